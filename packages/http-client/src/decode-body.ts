import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { BrotliDecompress, Gunzip, Inflate, InflateRaw } from "node:zlib";

import { BodyCollector } from "./body-collector.ts";
import { HttpClientError } from "./http-client-error.ts";

type Headers = Record<string, string | string[]>;
/** Makes a stream that undoes one encoding of the bytes. */
type CreateDecoder = (bytes: Buffer) => BrotliDecompress | Gunzip | Inflate | InflateRaw;

const DECODERS = new Map<string, CreateDecoder>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["br", () => createBrotliDecompress()],
  ["deflate", createDeflateDecoder],
]);

/** Each layer may cost `bytesMax` of work again, and nobody honest needs more than one. */
const LAYERS_MAX = 3;

/**
 * Undoes the content encodings of a complete body. Encodings that are not known leave body and
 * headers as they came. Where the body was decoded, `content-encoding` and `content-length` are
 * dropped, as they describe bytes which the caller does not get.
 *
 * @param bytesMax limit of the decoded body, and of each layer between
 * @param onBytes waited for with the number of bytes of each piece, of every layer, before it is kept
 * @throws HttpClientError RESPONSE_TOO_LARGE, or NETWORK for a body that is not what it claims; what
 * `onBytes` throws
 */
export async function decodeBody(
  headers: Headers,
  body: Buffer,
  bytesMax: number,
  onBytes: (bytes: number) => Promise<void> | undefined,
): Promise<{ headers: Headers; body: Buffer }> {
  const encodings = contentEncodings(headers);
  if (encodings.length === 0 || body.length === 0) return { headers, body };
  const decoders: CreateDecoder[] = [];
  for (const encoding of encodings) {
    const decoder = DECODERS.get(encoding);
    if (decoder === undefined) return { headers, body };
    decoders.unshift(decoder);
  }
  if (decoders.length > LAYERS_MAX) throw undecodable();

  let decoded = body;
  for (const create of decoders) decoded = await runDecoder(create, decoded, bytesMax, onBytes);
  const rest = Object.entries(headers).filter(
    ([name]) => name !== "content-encoding" && name !== "content-length",
  );
  return { headers: Object.fromEntries(rest), body: decoded };
}

function contentEncodings(headers: Headers): string[] {
  const value = headers["content-encoding"] ?? [];
  return [value]
    .flat()
    .join(",")
    .toLowerCase()
    .split(",")
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== "" && encoding !== "identity");
}

/** Piece by piece: a small body may become a large one, and nobody has made room for that yet. */
async function runDecoder(
  create: CreateDecoder,
  bytes: Buffer,
  bytesMax: number,
  onBytes: (bytes: number) => Promise<void> | undefined,
): Promise<Buffer> {
  const decoded = new BodyCollector(bytesMax);
  const decoder = create(bytes);
  decoder.end(bytes);
  const pieces: AsyncIterator<Buffer> = decoder[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await pieces.next().catch((error: unknown) => {
        throw undecodable(error);
      });
      if (done === true) return decoded.bytes();
      await onBytes(value.length);
      if (!decoded.append(value)) throw tooLarge(bytesMax);
    }
  } finally {
    decoder.destroy();
  }
}

/** "deflate" means zlib (RFC 9110, section 8.4.1.2), but some servers send the bare stream. */
function createDeflateDecoder(bytes: Buffer): Inflate | InflateRaw {
  const isZlib = ((bytes[0] ?? 0) & 0x0f) === 0x08;
  return isZlib ? createInflate() : createInflateRaw();
}

function tooLarge(bytesMax: number): HttpClientError {
  const message = `The decoded response body is larger than ${bytesMax} bytes.`;
  return new HttpClientError("RESPONSE_TOO_LARGE", message, { sent: true });
}

function undecodable(cause?: unknown): HttpClientError {
  const message = "The response body does not match its content encoding.";
  return new HttpClientError("NETWORK", message, { sent: true, cause });
}
