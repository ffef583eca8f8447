import { AppError } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type {
  ActionFailure,
  ConnectionChoice,
  Pause,
} from "@workflow/proto/integrations/v1/actions";
import type { StepFailure } from "../actions/action-failure.ts";
import { StepFailureError } from "../actions/action-failure.ts";
import type { NamedConnections } from "../actions/choose-connection.ts";

const ID_CHARS_MAX = 200;

/** The connections that a request names. A malformed id names a connection that nobody has. */
export function toNamed(choice: ConnectionChoice | undefined): NamedConnections {
  return { step: choice?.stepConnectionId, run: choice?.runConnectionId };
}

/** A step's failure in the form of the answer; other errors are thrown. */
export function toFailureMessage(error: unknown): ActionFailure {
  if (!(error instanceof StepFailureError)) throw error;
  const { code, message, details, retryable, answered, retryAfterMs }: StepFailure = error.failure;
  return {
    code,
    message,
    retryable: retryable ?? false,
    answered: answered ?? false,
    detailsJson: JSON.stringify(details),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }),
  };
}

/** The message for the wait of a paused connection. */
export function toPause({ waitMs, message }: { waitMs: number; message?: string }): Pause {
  return message === undefined ? { waitMs } : { waitMs, message };
}

/** The error for a request that none of our callers makes. */
export function badRequest(path: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `The request is not valid: ${path} ${message}.`, {
    violations: [{ path: [path], message }],
  });
}

/** A required short text. */
export function requireText(path: string, text: string, charsMax = ID_CHARS_MAX): string {
  if (text !== "" && text.length <= charsMax && isStorableText(text)) return text;
  throw badRequest(path, `must have 1 to ${charsMax} characters`);
}
