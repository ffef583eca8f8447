import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { BrotliDecompress, Gunzip, Inflate, InflateRaw } from "node:zlib";

import { BodyCollector } from "./body-collector.ts";
import { HttpClientError } from "./http-client-error.ts";

type Headers = Record<string, string | string[]>;
/** Creates a stream that decodes one content encoding. */
type CreateDecoder = (bytes: Buffer) => BrotliDecompress | Gunzip | Inflate | InflateRaw;

const DECODERS = new Map<string, CreateDecoder>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["br", () => createBrotliDecompress()],
  ["deflate", createDeflateDecoder],
]);

/** Each layer may take the work of `bytesMax` again, and honest servers use one layer. */
const LAYERS_MAX = 3;

/**
 * Decodes the content encodings of a complete body. Unknown encodings leave body and headers as received. For
 * a decoded body `content-encoding` and `content-length` are dropped, as they describe other bytes.
 *
 * @param bytesMax limit of the decoded body, and of each layer between
 * @param onBytes called with the number of bytes of each piece, of every layer, and awaited before the piece
 * is kept
 * @throws HttpClientError RESPONSE_TOO_LARGE, or NETWORK for a body that does not match its encoding; errors
 * of `onBytes` are passed on
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

/** Decodes piece by piece: a small body may become a large one, which has no room reserved yet. */
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

/** "deflate" means zlib (RFC 9110, section 8.4.1.2). Some servers send the bare stream instead. */
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
