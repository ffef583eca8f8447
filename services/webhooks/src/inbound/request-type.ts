import { AppError } from "@workflow/errors";
import type { InboundRequest } from "./inbound-request.ts";

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

/**
 * Requires JSON without compression.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE when a body is not declared as JSON, or is compressed
 */
export function requireJsonType(request: Pick<InboundRequest, "headers">): void {
  const [type = "", ...others] = request.headers.get("content-type") ?? [];
  if (others.length > 0 || !JSON_TYPE.test(type)) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The Content-Type must be application/json.");
  }
  requirePlainBody(request);
}

/**
 * Requires a body without compression.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE when a body is compressed
 */
export function requirePlainBody({ headers }: Pick<InboundRequest, "headers">): void {
  const encodings = headers.get("content-encoding") ?? [];
  if (encodings.every((encoding) => encoding.trim().toLowerCase() === "identity")) return;
  throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The request body must not be compressed.");
}
