import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import type { Writable as WritableStream } from "node:stream";
import type { AppError } from "@workflow/errors";
import { toErrorBody } from "../errors/error-body.ts";
import { HTTP_STATUS_BY_REASON } from "../errors/http-status.ts";
import { announceCoding, COMPRESSED_CHARS_MIN } from "./compression.ts";
import type { Compression } from "./compression.ts";
import { codedTag, findCurrentTag } from "./entity-tags.ts";
import { afterAnswer, requestInfoOf } from "./request-info.ts";
import type { RequestInfo } from "./request-info.ts";
import { writeJson } from "./write-json.ts";
import type { Writable } from "./write-json.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** Answers with a body that is JSON text already. */
export function sendJsonText(response: ServerResponse, status: number, text: string): void {
  sendText(response, status, JSON_TYPE, text);
}

/** Answers with a text; a longer one compressed where the client takes it so and nothing speaks against it. */
export function sendText(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
): void {
  response.statusCode = status;
  response.setHeader("Content-Type", contentType);
  const compression = text.length < COMPRESSED_CHARS_MIN ? null : beginCompression(response);
  if (compression === null) {
    response.setHeader("Content-Length", Buffer.byteLength(text));
    // A string goes out with the head in one piece; a buffer would be a second one.
    response.end(text);
  } else if (compression === "of GET") {
    response.end();
  } else {
    compression.compress(text, (error, bytes) => {
      if (error !== null) response.destroy(error);
      else response.setHeader("Content-Length", bytes.length).end(bytes);
    });
  }
}

/**
 * Begins an answer of 200 whose end is not known yet.
 *
 * @returns what the pieces are to be written to; destroying it cuts the connection
 */
export function beginText(response: ServerResponse, contentType: string): WritableStream {
  response.statusCode = 200;
  response.setHeader("Content-Type", contentType);
  const compression = beginCompression(response);
  if (compression === null || compression === "of GET") {
    response.flushHeaders();
    return response;
  }
  const stream = compression.createStream();
  response.flushHeaders();
  // A client that goes away is noticed by the response itself.
  pipeline(stream, response, () => {});
  return stream;
}

/** Null where an answer goes out as it is. A HEAD does not tell the length of what only a GET would compress. */
function beginCompression(response: ServerResponse): Compression | "of GET" | null {
  const info = requestInfoOf(response.req);
  const coding = info.compressor?.codingFor(response) ?? null;
  if (coding === null || info.compressor === undefined) return null;
  if (response.req.method === "HEAD") {
    announceCoding(response, coding);
    return "of GET";
  }
  const holder = info.companyId ?? info.client.ipAddress ?? "";
  const compression = info.compressor.begin(response, coding, holder);
  if (compression !== null) afterAnswer(response, compression.giveBack);
  return compression;
}

/** The success envelope. */
export function successText(data: Writable, meta?: Writable): string {
  const metaText = meta === undefined ? "" : `,"meta":${writeJson(meta)}`;
  return `{"success":true,"data":${writeJson(data)}${metaText}}`;
}

/** Answers with the success envelope. */
export function sendSuccess(
  response: ServerResponse,
  status: number,
  data: Writable,
  meta?: Writable,
): void {
  sendJsonText(response, status, successText(data, meta));
}

/** Answers with a tagged JSON text, or tells a reader that what it has is still right (RFC 9110, section 15.4.5). */
export function sendTagged(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text, etag }: { status: number; text: string; etag: string | undefined },
): void {
  const current =
    etag === undefined ? null : findCurrentTag(request, etag, tagAsSent(response, text, etag));
  if (current !== null) {
    response.statusCode = 304;
    response.setHeader("ETag", current);
    response.end();
    return;
  }
  if (etag !== undefined) response.setHeader("ETag", etag);
  sendJsonText(response, status, text);
}

/** The tag of an answer in the form in which this client gets it, when there is a place to compress it. */
function tagAsSent(response: ServerResponse, text: string, etag: string): string {
  const { compressor } = requestInfoOf(response.req);
  const coding =
    text.length < COMPRESSED_CHARS_MIN ? null : (compressor?.codingFor(response) ?? null);
  return coding === null ? etag : codedTag(etag, coding);
}

/**
 * Sends the client elsewhere. The address that it came by may hold a token or a code: it is told to nobody.
 */
export function sendRedirect(response: ServerResponse, location: string): void {
  response.statusCode = 302;
  response.setHeader("Location", location);
  response.setHeader("Content-Length", 0);
  response.end();
}

/** Answers with the error envelope, and notes the error for the log. */
export function sendError(response: ServerResponse, info: RequestInfo, error: AppError): void {
  const text = JSON.stringify({ success: false, error: toErrorBody(error, info.requestId) });
  sendErrorText(response, info, error, { status: HTTP_STATUS_BY_REASON[error.reason], text });
}

/** Answers a failure in whatever words, and notes the error for the log. */
export function sendErrorText(
  response: ServerResponse,
  info: RequestInfo,
  error: AppError,
  { status, text }: { status: number; text: string },
): void {
  info.error = error;
  if (response.headersSent) {
    // Too late for an answer: a cut connection at least does not look like success.
    response.destroy();
    return;
  }
  if (error.retryAfterMs !== undefined) {
    response.setHeader("Retry-After", Math.max(1, Math.ceil(error.retryAfterMs / 1000)));
  } else if (error.reason === "UNAVAILABLE") {
    response.setHeader("Retry-After", 1);
  }
  sendJsonText(response, status, text);
}
