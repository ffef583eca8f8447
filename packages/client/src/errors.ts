import { asDescribed, isObject } from "./described.ts";
import type { ErrorCode } from "./generated/types.gen.ts";

/** A problem with one field of a request. */
export interface FieldProblem {
  /** The path of the field, from the outside in: `["steps", "0", "config"]`. */
  path: readonly string[];
  message: string;
}

/** The `details` of the codes that specify them. Details of other codes are unknown. */
export interface ErrorDetails {
  VALIDATION_ERROR: readonly FieldProblem[];
  WORKFLOW_NOT_ACTIVE: { currentStatus: string };
  INVALID_STATE: { currentStatus: string };
  EXECUTION_TIMEOUT: { run_id: string; workflow_id: string };
  TRIGGER_ERROR: { run_id: string; workflow_id: string; status: string; errorCode?: string };
}

type DetailsOf<Code> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : unknown;

/** The base class of this library's own errors. Mistakes in the caller's code are TypeErrors. */
export class WorkflowError extends Error {
  override readonly name: string = "WorkflowError";
}

/** An id that cannot stand in the path of a request. Nothing was sent. */
export class InvalidParameterError extends TypeError {
  override readonly name = "InvalidParameterError";
  /** The name of the parameter, such as `id` or `stepId`. */
  readonly parameter: string;

  constructor(parameter: string, reason: string) {
    super(`${parameter} ${reason}`);
    this.parameter = parameter;
  }
}

/** The parts of an `ApiError`. */
export interface ApiErrorParts {
  code: string;
  message: string;
  status: number;
  requestId: string | null;
  details: unknown;
  retryAfterMs: number | null;
}

/**
 * The service refused a request, or failed. Use `code` to distinguish reasons, never the message.
 */
export class ApiError<Code extends string = string> extends WorkflowError {
  override readonly name = "ApiError";
  /**
   * A code such as NOT_FOUND. A newer service may send codes that this version does not list. An answer of
   * something else, such as a proxy, has the code `HTTP_` with the status.
   */
  readonly code: Code;
  /** The HTTP status. */
  readonly status: number;
  /** The id of the request in the service's logs; null when the answer has none. */
  readonly requestId: string | null;
  /** Further facts about the error. Their form depends on the code. */
  readonly details: DetailsOf<Code>;
  /** How long the service asks to wait, in milliseconds; null when it does not say. */
  readonly retryAfterMs: number | null;
  /** The number of times that the request was sent. */
  attempts = 1;
  /**
   * False when the work is surely not done: each try was refused by a limit, or had no connection.
   */
  mayHaveBeenReceived = true;

  constructor({ code, message, status, requestId, details, retryAfterMs }: ApiErrorParts) {
    super(message);
    this.code = asDescribed(code);
    this.status = status;
    this.requestId = requestId;
    this.details = asDescribed(details);
    this.retryAfterMs = retryAfterMs;
  }

  /** The wrong fields that the service names. */
  get problems(): readonly FieldProblem[] {
    const details: unknown = this.details;
    return Array.isArray(details) ? details.filter(isFieldProblem) : [];
  }
}

/** The connection failed or broke. */
export class ConnectionError extends WorkflowError {
  override readonly name = "ConnectionError";
  /** The number of times that the request was sent. */
  attempts = 1;
  /**
   * Whether the service may have received the request. False when surely no try reached it, which Node can tell and
   * browsers cannot.
   */
  mayHaveBeenReceived = true;
}

/**
 * No answer came within `timeoutMs`. It is unknown whether the service has received the request.
 */
export class TimeoutError extends WorkflowError {
  override readonly name = "TimeoutError";
  /** The number of times that the request was sent. */
  attempts = 1;
  /** As for a `ConnectionError`. The late try may have reached the service. */
  mayHaveBeenReceived = true;
}

/** The answer does not come from this API: the address is wrong, or a proxy answered. */
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
 * Whether an error is an answer of the service and, when a code is given, has this code. It checks the name instead
 * of the class, so it also recognizes errors of a second copy of this library.
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
