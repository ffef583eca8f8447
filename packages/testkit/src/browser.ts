import { execFile } from "node:child_process";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createBrotliDecompress } from "node:zlib";
import type { Browser } from "playwright-core";

const run = promisify(execFile);

const CACHE_FOLDER = fileURLToPath(new URL("../../../.cache/chromium", import.meta.url));
/** The package's entry lies in its folder `build`. */
const PACKAGE_FOLDER = dirname(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))));

/**
 * Starts headless Chromium, as any user and without an installed browser: its npm package includes the
 * libraries that a fresh machine lacks. The first call unpacks it below `.cache/`.
 */
export async function startBrowser(): Promise<Browser> {
  const folder = await unpackedFolder();
  // The module has seven megabytes of code, as much as all services together, and one test needs it.
  const { chromium } = await import("playwright-core");
  return chromium.launch({
    executablePath: join(folder, "chromium"),
    // Tests may run as root and in containers, where the sandbox cannot be set up.
    args: ["--no-sandbox", "--disable-gpu", "--headless=shell"],
    env: { LD_LIBRARY_PATH: join(folder, "al2023", "lib"), HOME: folder },
  });
}

/**
 * Unpacks beside the final place and moves the folder, so that no concurrent caller sees half of it.
 */
async function unpackedFolder(): Promise<string> {
  const { version } = readVersion(await readFile(join(PACKAGE_FOLDER, "package.json"), "utf8"));
  const folder = join(CACHE_FOLDER, version);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE_FOLDER, { recursive: true });
  const workFolder = await mkdtemp(join(CACHE_FOLDER, "unpacking-"));
  try {
    await decompress("chromium.br", join(workFolder, "chromium"), 0o755);
    const libraries = join(workFolder, "al2023.tar");
    await decompress("al2023.tar.br", libraries, 0o644);
    await mkdir(join(workFolder, "al2023"));
    await run("tar", ["-xf", libraries, "-C", join(workFolder, "al2023"), "--no-same-owner"]);
    await rm(libraries);
    await rename(workFolder, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
  return folder;
}

async function decompress(name: string, target: string, mode: number): Promise<void> {
  const source = createReadStream(join(PACKAGE_FOLDER, "bin", name));
  await pipeline(source, createBrotliDecompress(), createWriteStream(target, { mode }));
}

function readVersion(text: string): { version: string } {
  const { version } = JSON.parse(text);
  return { version };
}
