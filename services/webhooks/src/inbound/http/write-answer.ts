import type { ServerResponse } from "node:http";
import type { AppError, Reason } from "@workflow/errors";
import type { InboundAnswer } from "../inbound-request.ts";

const STATUS_BY_REASON: Partial<Record<Reason, number>> = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  UPSTREAM_ERROR: 502,
  UNAVAILABLE: 503,
};
const RETRY_AFTER_MS_DEFAULT = 5_000;

/** Answers a sender; `closes` when the rest of the request is not read. */
export function writeAnswer(
  response: ServerResponse,
  { status, body }: InboundAnswer,
  headers: Record<string, string> = {},
  closes = false,
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    ...headers,
    ...(closes ? { connection: "close" } : {}),
  });
  response.end(text);
}

/** The answer for an error: `{error}`. It says nothing about our own faults. */
export function toErrorAnswer({ reason, message }: AppError): InboundAnswer {
  return { status: STATUS_BY_REASON[reason] ?? 500, body: { error: message } };
}

/** The headers of an error's answer. */
export function errorHeaders({ reason, retryAfterMs }: AppError): Record<string, string> {
  if (reason === "METHOD_NOT_ALLOWED") return { allow: "POST" };
  if (reason !== "RATE_LIMITED" && reason !== "UNAVAILABLE") return {};
  const seconds = Math.ceil((retryAfterMs ?? RETRY_AFTER_MS_DEFAULT) / 1000);
  return { "retry-after": String(seconds) };
}
