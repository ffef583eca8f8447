import type { ServerResponse } from "node:http";
import type { Request } from "express";
import { findCurrentTag } from "./entity-tags.ts";
import type { Encoding, StaticFile } from "./static-file.ts";

/**
 * Answers GET or HEAD with a file, in the smallest encoding that the client accepts. Each encoding
 * has its own tag (RFC 9110, section 8.8.3.3). The caller's headers are set last, when nothing can
 * fail any more.
 *
 * @param setHeaders called for 200 and 304 alike
 */
export async function sendStaticFile(
  file: StaticFile,
  request: Request,
  response: ServerResponse,
  setHeaders: () => void,
): Promise<void> {
  const encoding = encodingFor(request);
  const etag = `"${file.digest}-${encoding}"`;
  const bytes = findCurrentTag(request, etag) !== null ? undefined : await file.read(encoding);
  setHeaders();
  response.setHeader("ETag", etag);
  if (bytes === undefined) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader("Content-Type", file.contentType);
  response.setHeader("Content-Length", bytes.length);
  if (encoding !== "identity") response.setHeader("Content-Encoding", encoding);
  response.end(bytes);
}

/** The smallest accepted encoding, whatever the client's order. */
function encodingFor(request: Request): Encoding {
  if (request.acceptsEncodings("br") !== false) return "br";
  return request.acceptsEncodings("gzip") === false ? "identity" : "gzip";
}
