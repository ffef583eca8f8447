import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

import { HttpClientError } from "./http-client-error.ts";
import { errorCodeOf } from "./transport-errors.ts";

type Headers = Record<string, string | string[]>;
type Decoder = (bytes: Buffer, bytesMax: number) => Promise<Buffer>;

const gunzipAsync = promisify(gunzip);
const inflateAsync = promisify(inflate);
const inflateRawAsync = promisify(inflateRaw);
const brotliAsync = promisify(brotliDecompress);

const decodeGzip: Decoder = (bytes, bytesMax) =>
  gunzipAsync(bytes, { maxOutputLength: outputLimit(bytesMax) });

const DECODERS = new Map<string, Decoder>([
  ["gzip", decodeGzip],
  ["x-gzip", decodeGzip],
  ["br", (bytes, bytesMax) => brotliAsync(bytes, { maxOutputLength: outputLimit(bytesMax) })],
  ["deflate", decodeDeflate],
]);

/** Each layer may cost `bytesMax` of work again, and nobody honest needs more than one. */
const LAYERS_MAX = 3;

/**
 * Undoes the content encodings of a complete body. Encodings that are not known leave body and
 * headers as they came. Where the body was decoded, `content-encoding` and `content-length` are
 * dropped, as they describe bytes which the caller does not get.
 *
 * @param bytesMax limit of the decoded body, and of each layer between
 * @throws HttpClientError RESPONSE_TOO_LARGE, or NETWORK for a body that is not what it claims
 */
export async function decodeBody(
  headers: Headers,
  body: Buffer,
  bytesMax: number,
): Promise<{ headers: Headers; body: Buffer }> {
  const encodings = contentEncodings(headers);
  if (encodings.length === 0 || body.length === 0) return { headers, body };
  const decoders: Decoder[] = [];
  for (const encoding of encodings) {
    const decoder = DECODERS.get(encoding);
    if (decoder === undefined) return { headers, body };
    decoders.unshift(decoder);
  }
  if (decoders.length > LAYERS_MAX) throw undecodable();

  let decoded = body;
  for (const decode of decoders) decoded = await runDecoder(decode, decoded, bytesMax);
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

async function runDecoder(decode: Decoder, bytes: Buffer, bytesMax: number): Promise<Buffer> {
  let decoded: Buffer;
  try {
    decoded = await decode(bytes, bytesMax);
  } catch (error) {
    if (errorCodeOf(error) === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax, error);
    throw undecodable(error);
  }
  if (decoded.length > bytesMax) throw tooLarge(bytesMax);
  return decoded;
}

/** "deflate" means zlib (RFC 9110, section 8.4.1.2), but some servers send the bare stream. */
function decodeDeflate(bytes: Buffer, bytesMax: number): Promise<Buffer> {
  const isZlib = ((bytes[0] ?? 0) & 0x0f) === 0x08;
  const decode = isZlib ? inflateAsync : inflateRawAsync;
  return decode(bytes, { maxOutputLength: outputLimit(bytesMax) });
}

/** zlib takes no limit below 1. */
function outputLimit(bytesMax: number): number {
  return Math.max(1, bytesMax);
}

function tooLarge(bytesMax: number, cause?: unknown): HttpClientError {
  const message = `The decoded response body is larger than ${bytesMax} bytes.`;
  return new HttpClientError("RESPONSE_TOO_LARGE", message, { sent: true, cause });
}

function undecodable(cause?: unknown): HttpClientError {
  const message = "The response body does not match its content encoding.";
  return new HttpClientError("NETWORK", message, { sent: true, cause });
}
