import type { ServerResponse } from "node:http";
import { toAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import type { ErrorRequestHandler, Request, Response } from "express";
import { toErrorBody } from "../errors/error-body.ts";
import { HTTP_STATUS_BY_REASON } from "../errors/http-status.ts";
import { requestInfoOf } from "../http/request-info.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { sendErrorText } from "../http/respond.ts";

/**
 * Answers with `{error}`, the contract's form for inbound webhooks, and keeps the error for the
 * log.
 *
 * @param status by default that of the error's reason
 */
export function sendPlainError(
  response: ServerResponse,
  info: RequestInfo,
  error: AppError,
  status: number = HTTP_STATUS_BY_REASON[error.reason],
): void {
  const text = JSON.stringify({ error: toErrorBody(error, info.requestId).message });
  sendErrorText(response, info, error, { status, text });
}

/** Answers errors below the path of inbound webhooks. */
export function createPlainErrorHandler(): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  return (thrown: unknown, request: Request, response: Response, _next: unknown) => {
    sendPlainError(response, requestInfoOf(request), toAppError(thrown));
  };
}
