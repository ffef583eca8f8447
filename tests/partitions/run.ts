import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startInOwnNamespaces, whyNoNamespaces } from "../support/own-namespaces.ts";

/*
 * npm run partitions [-- --short | -- --only <text>]: cuts edges of the separate system while it has work to
 * do. Each part is in a network namespace of its own, and all of them in namespaces of this command, which end
 * with it, whatever happens: this machine keeps nothing of it.
 */

/** Ends with 77, as tests do elsewhere that could not be run: it is no success. */
const NOT_RUN = 77;
const MAIN = join(import.meta.dirname, "main.ts");

const trouble = whyNoNamespaces();
if (trouble !== null) {
  process.stderr.write(
    `\n*** PARTITIONS WERE NOT RUN: ${trouble}\n*** They need root, iproute2 and util-linux on Linux. This is no success.\n\n`,
  );
  process.exit(NOT_RUN);
}
const folder = await mkdtemp(join(tmpdir(), "partitions-"));
// Postgres is another user.
await chmod(folder, 0o755);
const child = startInOwnNamespaces(MAIN, {
  args: process.argv.slice(2),
  folder,
  stdio: "inherit",
});
// Ctrl-C in a terminal reaches both; whoever ends this command by its number ends the other one, too.
process.once("SIGTERM", () => child.kill("SIGKILL"));
process.on("SIGINT", () => {});
const [code] = await once(child, "exit");
await rm(folder, { recursive: true, force: true });
process.exitCode = typeof code === "number" ? code : 1;
