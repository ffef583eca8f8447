import { asDescribed, isObject } from "./described.ts";
import type { ErrorCode } from "./generated/types.gen.ts";

/** What is wrong with one field of a request. */
export interface FieldProblem {
  /** Where it is, from the outside in: `["steps", "0", "config"]`. */
  path: readonly string[];
  message: string;
}

/** What `details` holds for the codes that promise something. Of all others it is unknown. */
export interface ErrorDetails {
  VALIDATION_ERROR: readonly FieldProblem[];
  WORKFLOW_NOT_ACTIVE: { currentStatus: string };
  INVALID_STATE: { currentStatus: string };
  EXECUTION_TIMEOUT: { run_id: string; workflow_id: string };
  TRIGGER_ERROR: { run_id: string; workflow_id: string; status: string; errorCode?: string };
}

type DetailsOf<Code> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : unknown;

/** Everything that this library throws by itself; what is wrong in the caller's code is a TypeError. */
export class WorkflowError extends Error {
  override readonly name: string = "WorkflowError";
}

/** The caller's code is wrong: an id that cannot stand in the path of a request. Nothing was sent. */
export class InvalidParameterError extends TypeError {
  override readonly name = "InvalidParameterError";
  /** Such as `id` or `stepId`. */
  readonly parameter: string;

  constructor(parameter: string, reason: string) {
    super(`${parameter} ${reason}`);
    this.parameter = parameter;
  }
}

/** What an `ApiError` is made of. */
export interface ApiErrorParts {
  code: string;
  message: string;
  status: number;
  requestId: string | null;
  details: unknown;
  retryAfterMs: number | null;
}

/** The service refused a request, or failed. Tell the reasons apart by `code`, never by the message. */
export class ApiError<Code extends string = string> extends WorkflowError {
  override readonly name = "ApiError";
  /**
   * Such as NOT_FOUND. A newer service may send codes that this version does not list. An answer that is
   * none of the service's, of a proxy for example, has the code `HTTP_` and the status.
   */
  readonly code: Code;
  /** The HTTP status. */
  readonly status: number;
  /** Names the request in the service's logs; null when the answer has none. */
  readonly requestId: string | null;
  /** More about the error; what it holds depends on the code. */
  readonly details: DetailsOf<Code>;
  /** How long the service asks to wait, in milliseconds; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** How often the request was sent. */
  attempts = 1;
  /** False when a limit has refused each try, or no connection was made for it: the work is surely not done. */
  mayHaveBeenReceived = true;

  constructor({ code, message, status, requestId, details, retryAfterMs }: ApiErrorParts) {
    super(message);
    this.code = asDescribed(code);
    this.status = status;
    this.requestId = requestId;
    this.details = asDescribed(details);
    this.retryAfterMs = retryAfterMs;
  }

  /** The fields that are wrong, as far as the service names any. */
  get problems(): readonly FieldProblem[] {
    const details: unknown = this.details;
    return Array.isArray(details) ? details.filter(isFieldProblem) : [];
  }
}

/** The connection failed or broke. */
export class ConnectionError extends WorkflowError {
  override readonly name = "ConnectionError";
  /** How often the request was sent. */
  attempts = 1;
  /**
   * Whether the service may have taken the request. False when surely none of the tries came to it, which Node can
   * tell and browsers cannot.
   */
  mayHaveBeenReceived = true;
}

/** No answer came within `timeoutMs`: whether the service has taken the request is not known. */
export class TimeoutError extends WorkflowError {
  override readonly name = "TimeoutError";
  /** How often the request was sent. */
  attempts = 1;
  /** As of a `ConnectionError`; the try that was too late may have come through. */
  mayHaveBeenReceived = true;
}

/** The answer is none of this API: a wrong address, or a proxy in between. */
export class InvalidAnswerError extends WorkflowError {
  override readonly name = "InvalidAnswerError";
  /** The HTTP status; 0 when a browser hides it. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/**
 * Whether an error is the service's answer, and, with a code, this one. Looks at the name and not at the class, so
 * that it knows the errors of a second copy of this library as well.
 */
export function isApiError(error: unknown): error is ApiError;
export function isApiError<Code extends ErrorCode | (string & {})>(
  error: unknown,
  code: Code,
): error is ApiError<Code>;
export function isApiError(error: unknown, code?: string): boolean {
  if (!isObject(error) || error["name"] !== "ApiError" || !("code" in error)) return false;
  return code === undefined || error["code"] === code;
}

function isFieldProblem(value: unknown): value is FieldProblem {
  return isObject(value) && Array.isArray(value["path"]) && typeof value["message"] === "string";
}
