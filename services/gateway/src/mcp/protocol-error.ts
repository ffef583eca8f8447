import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { databaseErrorToAppError } from "@workflow/db";
import type { Reason } from "@workflow/errors";
import type { Logger } from "pino";
import { toErrorBody } from "../errors/error-body.ts";

/** Reasons that lie in what the caller sent; all others are the server's or pass by themselves. */
const CALLERS: readonly Reason[] = ["BAD_REQUEST", "VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN"];

/** An error as JSON-RPC tells it; `data` is the API's own error, with its code and the request's id. */
export function toProtocolError(thrown: unknown, requestId: string, logger: Logger): Error {
  if (thrown instanceof ProtocolError) return thrown;
  const error = databaseErrorToAppError(thrown);
  if (error.reason === "INTERNAL_ERROR")
    logger.error({ err: error, requestId }, "an MCP call failed");
  const { InvalidParams, InternalError } = ProtocolErrorCode;
  const body = toErrorBody(error, requestId);
  return new ProtocolError(
    CALLERS.includes(error.reason) ? InvalidParams : InternalError,
    body.message,
    body,
  );
}
