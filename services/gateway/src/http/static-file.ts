import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** The content codings of static files (RFC 9110, section 8.4). */
export type Encoding = "br" | "gzip" | "identity";

/** A file that is the same for everybody. */
export interface StaticFile {
  readonly contentType: string;
  /** A digest of the content. */
  readonly digest: string;
  /** The encoded bytes. All requests share them. */
  read(encoding: Encoding): Promise<Buffer>;
}

/** The source of a file: bytes that are read on the first request. */
export interface FileSource {
  contentType: string;
  digest: string;
  /** Makes the bytes of an encoding; called once for each. */
  make: (encoding: Encoding) => Promise<Buffer>;
}

/**
 * Keeps each encoding in memory after the first request for it. A failed encoding is tried again.
 */
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

/** A file whose text is in memory already. */
export function createTextFile(contentType: string, text: string): StaticFile {
  const bytes = Buffer.from(text);
  const digest = createHash("sha256").update(bytes).digest("hex");
  return createStaticFile({ contentType, digest, make: (encoding) => encode(bytes, encoding) });
}

/** Compresses bytes in the thread pool. */
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

/** Half a megabyte takes 10 ms; the best quality takes 40 times as long for 10 % less. */
const BROTLI_PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 5 };
