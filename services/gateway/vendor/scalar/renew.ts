import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { z } from "zod";

const run = promisify(execFile);

const SOURCE = new URL("source.json", import.meta.url);
const COMPRESSED = new URL("standalone.js.br", import.meta.url);
const FILE_BYTES_MAX = 64 * 1024 * 1024;

const sourceShape = z.object({
  package: z.string(),
  version: z.string(),
  integrity: z.string().startsWith("sha512-"),
  file: z.string(),
  sha256: z.string(),
});

/** Takes the file out of the package; Error unless the package is the one with this checksum. */
async function takeFile(source: z.infer<typeof sourceShape>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "scalar-"));
  try {
    const name = `${source.package}@${source.version}`;
    const { stdout } = await run("npm", ["pack", name, "--silent", "--pack-destination", folder]);
    const archive = join(folder, stdout.trim());
    const digest = createHash("sha512")
      .update(await readFile(archive))
      .digest("base64");
    if (`sha512-${digest}` !== source.integrity) {
      throw new Error(`${name} has the checksum sha512-${digest}, not ${source.integrity}.`);
    }
    const unpacked = await run("tar", ["-xzOf", archive, `package/${source.file}`], {
      encoding: "buffer",
      maxBuffer: FILE_BYTES_MAX,
    });
    return unpacked.stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const current = sourceShape.parse(JSON.parse(await readFile(SOURCE, "utf8")));
const [, , version = current.version, integrity = current.integrity] = process.argv;
const source = sourceShape.parse({ ...current, version, integrity });
const file = await takeFile(source);
const sha256 = createHash("sha256").update(file).digest("hex");
const params = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: file.length,
};
await writeFile(COMPRESSED, brotliCompressSync(file, { params }));
await writeFile(SOURCE, `${JSON.stringify({ ...source, sha256 }, null, 2)}\n`);
