import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** How the bytes of an answer may be packed (RFC 9110, section 8.4). */
export type Encoding = "br" | "gzip" | "identity";

/** Bytes that are the same for everybody. */
export interface StaticFile {
  readonly contentType: string;
  /** Names the content: another one has another digest. */
  readonly digest: string;
  /** The bytes so encoded. They are shared by all who ask. */
  read(encoding: Encoding): Promise<Buffer>;
}

/** What a file is made of: bytes that are read when somebody asks for them first. */
export interface FileSource {
  contentType: string;
  digest: string;
  /** Makes the bytes of an encoding; asked once for each. */
  make: (encoding: Encoding) => Promise<Buffer>;
}

/** Keeps each encoding in memory from the first request for it. One that failed is made again. */
export function createStaticFile({ contentType, digest, make }: FileSource): StaticFile {
  const made = new Map<Encoding, Promise<Buffer>>();
  return {
    contentType,
    digest,
    read(encoding) {
      const known = made.get(encoding);
      if (known !== undefined) return known;
      const bytes = make(encoding);
      made.set(encoding, bytes);
      bytes.catch(() => made.delete(encoding));
      return bytes;
    },
  };
}

/** A file of a text that is in memory already. */
export function createTextFile(contentType: string, text: string): StaticFile {
  const bytes = Buffer.from(text);
  const digest = createHash("sha256").update(bytes).digest("hex");
  return createStaticFile({ contentType, digest, make: (encoding) => encode(bytes, encoding) });
}

/** Packs bytes, on a thread of the pool. */
export async function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case "br":
      return promisify(brotliCompress)(bytes, { params: BROTLI_PARAMS });
    case "gzip":
      return promisify(gzip)(bytes);
    case "identity":
      return bytes;
  }
}

/** Half a megabyte takes 10 ms; the best quality took 40 times as long for 10 % less. */
const BROTLI_PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 5 };
