import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { z } from "zod";
import { createStaticFile, encode } from "../http/static-file.ts";
import type { StaticFile } from "../http/static-file.ts";

const FOLDER = new URL("../../vendor/scalar/", import.meta.url);

const sourceShape = z.object({ version: z.string(), sha256: z.string() });

/** The script that shows an OpenAPI document, as vendored, with its version. */
export interface ScalarScript {
  version: string;
  file: StaticFile;
}

/**
 * Opens the vendored script. It is stored as Brotli, because compressing its four megabytes takes
 * eleven seconds. The other encodings are made from it when a client needs one.
 */
export function openScalarScript(): ScalarScript {
  const source = sourceShape.parse(
    JSON.parse(readFileSync(new URL("source.json", FOLDER), "utf8")),
  );
  const readCompressed = () => readFile(new URL("standalone.js.br", FOLDER));
  const file = createStaticFile({
    contentType: "text/javascript; charset=utf-8",
    digest: source.sha256,
    async make(encoding) {
      const compressed = await readCompressed();
      if (encoding === "br") return compressed;
      return encode(await promisify(brotliDecompress)(compressed), encoding);
    },
  });
  return { version: source.version, file };
}
