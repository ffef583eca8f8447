import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/*
 * npm run partitions [-- --short | -- --only <text>]: cuts edges of the separate system while it has work to
 * do. Each part is in a network namespace of its own, and all of them in namespaces of this command, which end
 * with it, whatever happens: this machine keeps nothing of it.
 */

/** Ends with 77, as tests do elsewhere that could not be run: it is no success. */
const NOT_RUN = 77;
const MAIN = join(import.meta.dirname, "main.ts");
const ALONE = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
/** Names of network namespaces are files, and these are seen by nobody else. */
const PRIVATE_NAMES = "mkdir -p /run/netns && mount -t tmpfs none /run/netns";
/** What is needed: a namespace, a pair of devices, and a rule that drops packets. */
const PROBE = [
  PRIVATE_NAMES,
  "ip netns add probe",
  "ip link add probe0 type veth peer name probe1 netns probe",
  "ip rule add from 192.0.2.1 to 192.0.2.2 blackhole",
].join(" && ");

const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;
const env = { ...process.env, PATH };

const trouble = whyNot();
if (trouble !== null) {
  process.stderr.write(
    `\n*** PARTITIONS WERE NOT RUN: ${trouble}\n*** They need root, iproute2 and util-linux on Linux. This is no success.\n\n`,
  );
  process.exit(NOT_RUN);
}
const folder = await mkdtemp(join(tmpdir(), "partitions-"));
// Postgres is another user.
await chmod(folder, 0o755);
const command = `${PRIVATE_NAMES} && exec "$@"`;
const started = [process.execPath, MAIN, ...process.argv.slice(2)];
const child = spawn("unshare", [...ALONE, "sh", "-c", command, "sh", ...started], {
  env: { ...env, TMPDIR: folder },
  stdio: "inherit",
});
// Ctrl-C in a terminal reaches both; whoever ends this command by its number ends the other one, too.
process.once("SIGTERM", () => child.kill("SIGKILL"));
process.on("SIGINT", () => {});
const [code] = await once(child, "exit");
await rm(folder, { recursive: true, force: true });
process.exitCode = typeof code === "number" ? code : 1;

function whyNot(): string | null {
  if (process.platform !== "linux") return `there are no network namespaces on ${process.platform}`;
  if (process.getuid?.() !== 0) return "this user is not root";
  const probe = spawnSync("unshare", [...ALONE, "sh", "-c", PROBE], { env, encoding: "utf8" });
  if (probe.error !== undefined) return probe.error.message;
  return probe.status === 0 ? null : probe.stderr.trim() || `unshare ended with ${probe.status}`;
}
