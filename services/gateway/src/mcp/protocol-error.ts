import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { databaseErrorToAppError } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Reason } from "@workflow/errors";
import { toErrorBody } from "../errors/error-body.ts";

/** The errors that a caller's input causes; all others are the server's or temporary. */
const CALLERS: readonly Reason[] = ["BAD_REQUEST", "VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN"];
const NAME_CHARS_MAX = 200;

/** An error in JSON-RPC form; `data` is the API's own error, with its code and the request's id. */
export function toProtocolError(
  thrown: unknown,
  requestId: string,
  onFailure: (error: AppError) => void,
): ProtocolError {
  if (thrown instanceof ProtocolError) {
    onFailure(new AppError("BAD_REQUEST", thrown.message));
    return thrown;
  }
  const error = databaseErrorToAppError(thrown);
  onFailure(error);
  const { InvalidParams, InternalError } = ProtocolErrorCode;
  const body = toErrorBody(error, requestId);
  const code = CALLERS.includes(error.reason) ? InvalidParams : InternalError;
  return new ProtocolError(code, body.message, body);
}

/** A name or address from a caller, short enough to repeat in a message. */
export function quoted(name: string): string {
  const text = name.length > NAME_CHARS_MAX ? `${name.slice(0, NAME_CHARS_MAX)}…` : name;
  return JSON.stringify(text);
}
