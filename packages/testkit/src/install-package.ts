import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const CACHE_FOLDER = fileURLToPath(new URL("../../../.cache/npm", import.meta.url));

/**
 * The folder of an npm package that only one test needs, so that it is no dependency of the project.
 * The package is installed below `.cache` on first use, without scripts, and stays there.
 *
 * @throws Error with npm's message when the installation fails
 */
export async function installPackage({
  name,
  version,
}: {
  name: string;
  version: string;
}): Promise<string> {
  const folder = join(CACHE_FOLDER, `${name.replaceAll(/[^\w]/g, "_")}-${version}`);
  if (!existsSync(folder)) {
    const made = `${folder}.${process.pid}`;
    await mkdir(made, { recursive: true });
    // A project of its own, because npm would install into the nearest one above.
    await writeFile(join(made, "package.json"), '{ "private": true }\n');
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
    const { NODE_OPTIONS: _, ...env } = process.env;
    await promisify(execFile)("npm", ["install", ...flags, `${name}@${version}`], {
      cwd: made,
      env,
    });
    // The first process wins; the copies of other processes are equal.
    await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }));
  }
  return join(folder, "node_modules", name);
}
