import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

const GZIP_FROM_BYTES = 64 * 1024;
/** A run's input and output are at most 11 MiB (D4); far beyond that is an attack or a mistake. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** The header that names the encoding of a body that is not plain JSON. */
export const ENCODING_HEADER = "Content-Encoding";
export const GZIP = "gzip";

export interface EncodedBody {
  bytes: Uint8Array;
  gzipped: boolean;
}

/**
 * A body for the bus. Big ones are compressed, since the server limits the size of messages. Null for
 * one that a consumer would not unpack.
 */
export async function encodeBody(body: string): Promise<EncodedBody | null> {
  const bytes = Buffer.from(body);
  if (bytes.byteLength > BODY_BYTES_MAX) return null;
  if (bytes.byteLength < GZIP_FROM_BYTES) return { bytes, gzipped: false };
  return { bytes: await compress(bytes, { level: 1 }), gzipped: true };
}

/** @throws Error when the bytes do not have the given encoding */
export async function decodeBody(bytes: Uint8Array, gzipped: boolean): Promise<string> {
  const plain = gzipped ? await decompress(bytes, { maxOutputLength: BODY_BYTES_MAX }) : bytes;
  return Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString("utf8");
}
