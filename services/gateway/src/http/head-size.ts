import type { IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";

/** The limit of request line and headers on most routes. */
const HEAD_BYTES_MAX = 32 * 1024;
/**
 * The limit of routes that take a document in their query string: a filter of 50,000 characters,
 * each possibly percent-encoded, and the other parameters.
 */
const LONG_ADDRESS_CHARS_MAX = 3 * 50_000 + 4 * 1024;

/** The limit that the server has to allow before it knows the route. */
export const LONGEST_HEAD_BYTES = LONG_ADDRESS_CHARS_MAX + HEAD_BYTES_MAX;

/**
 * Checks the size of request line and headers.
 *
 * @throws AppError HEADERS_TOO_LARGE when they are longer than the route needs
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
