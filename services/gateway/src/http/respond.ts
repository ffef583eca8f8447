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

/** Answers with a text, compressed when it is long enough and the client accepts it. */
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
    // A string goes out in one piece with the head; a buffer would be a second piece.
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
 * Begins an answer of 200 whose length is not known yet.
 *
 * @returns the stream for the pieces; destroying it cuts the connection
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
  // The response itself notices a client that leaves.
  pipeline(stream, response, () => {});
  return stream;
}

/**
 * Null where an answer goes out uncompressed. HEAD omits the length that only a GET would find by
 * compressing.
 */
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

/**
 * Answers with a tagged JSON text, or with 304 when the reader's copy is fresh (RFC 9110, section
 * 15.4.5).
 */
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

/**
 * The tag of the answer's form that this client gets, provided that there is a place to compress
 * it.
 */
function tagAsSent(response: ServerResponse, text: string, etag: string): string {
  const { compressor } = requestInfoOf(response.req);
  const coding =
    text.length < COMPRESSED_CHARS_MIN ? null : (compressor?.codingFor(response) ?? null);
  return coding === null ? etag : codedTag(etag, coding);
}

/**
 * Redirects the client. The address that it came from may contain a token or a code, so no referrer
 * is sent.
 */
export function sendRedirect(response: ServerResponse, location: string): void {
  response.statusCode = 302;
  response.setHeader("Location", location);
  response.setHeader("Content-Length", 0);
  response.end();
}

/** Answers with the error envelope, and keeps the error for the log. */
export function sendError(response: ServerResponse, info: RequestInfo, error: AppError): void {
  const text = JSON.stringify({ success: false, error: toErrorBody(error, info.requestId) });
  sendErrorText(response, info, error, { status: HTTP_STATUS_BY_REASON[error.reason], text });
}

/** Answers a failure with any body, and keeps the error for the log. */
export function sendErrorText(
  response: ServerResponse,
  info: RequestInfo,
  error: AppError,
  { status, text }: { status: number; text: string },
): void {
  info.error = error;
  if (response.headersSent) {
    // An answer is under way already: a cut connection at least does not look like success.
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
