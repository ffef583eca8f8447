import type { IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";

/** Of the request line and the headers, on most routes. */
const HEAD_BYTES_MAX = 32 * 1024;
/**
 * Of the address of a route that takes a document in its query string: a filter of 50,000 characters,
 * each of which may be percent-encoded, and the rest of it.
 */
const LONG_ADDRESS_CHARS_MAX = 3 * 50_000 + 4 * 1024;

/** What the server has to receive before it is known which route is meant. */
export const LONGEST_HEAD_BYTES = LONG_ADDRESS_CHARS_MAX + HEAD_BYTES_MAX;

/**
 * @throws AppError HEADERS_TOO_LARGE when the request line and the headers are longer than the
 * route needs
 */
export function checkHeadSize(request: IncomingMessage, hasLongQuery: boolean): void {
  const { url = "", rawHeaders } = request;
  let bytes = hasLongQuery ? Math.max(0, url.length - LONG_ADDRESS_CHARS_MAX) : url.length;
  for (const text of rawHeaders) bytes += text.length;
  if (bytes > HEAD_BYTES_MAX) throw headTooLarge();
}

/** The answer to a request line and headers that are too large. */
export function headTooLarge(): AppError {
  const most = `${HEAD_BYTES_MAX} bytes`;
  return new AppError(
    "HEADERS_TOO_LARGE",
    `The request's address and headers must be at most ${most} in all.`,
  );
}
