import type { ServerResponse } from "node:http";
import type { AppError } from "@workflow/errors";
import { toErrorBody } from "../errors/error-body.ts";
import { HTTP_STATUS_BY_REASON } from "../errors/http-status.ts";
import type { RequestInfo } from "./request-info.ts";
import { writeJson } from "./write-json.ts";
import type { Writable } from "./write-json.ts";

/** Answers with a body that is JSON text already. */
export function sendJsonText(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Content-Length", Buffer.byteLength(text));
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("X-Content-Type-Options", "nosniff");
  // A string goes out with the head in one piece; a buffer would be a second one.
  response.end(text);
}

/** Answers with the success envelope. */
export function sendSuccess(
  response: ServerResponse,
  status: number,
  data: Writable,
  meta?: Writable,
): void {
  const metaText = meta === undefined ? "" : `,"meta":${writeJson(meta)}`;
  sendJsonText(response, status, `{"success":true,"data":${writeJson(data)}${metaText}}`);
}

/** Tells a reader that what it has is still right (RFC 9110, section 15.4.5). */
export function sendNotModified(response: ServerResponse): void {
  response.statusCode = 304;
  response.setHeader("Cache-Control", "no-store");
  response.end();
}

/**
 * Sends the client elsewhere. The address that it came by may hold a token or a code: it is told to nobody.
 */
export function sendRedirect(response: ServerResponse, location: string): void {
  response.statusCode = 302;
  response.setHeader("Location", location);
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("Referrer-Policy", "no-referrer");
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
