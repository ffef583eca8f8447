import { isApiError } from "@workflow/client";
import type { ApiError } from "@workflow/client";
import { EXIT } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";

/** What the command ends with; its message is for the person who typed it. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  /** What to do next, a line each. */
  readonly hints: readonly string[];
  /** More for `--json`. */
  readonly details: unknown;

  constructor(
    message: string,
    exitCode: ExitCode,
    more: { hints?: readonly string[]; details?: unknown; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.exitCode = exitCode;
    this.hints = more.hints ?? [];
    this.details = more.details;
  }
}

/** The command line, or a file, is wrong. */
export function usageError(message: string, ...hints: string[]): CliError {
  return new CliError(message, EXIT.usage, { hints });
}

/** A failure as it is told: in words, as JSON and by the exit code. */
export interface Failure {
  exitCode: ExitCode;
  code: string;
  message: string;
  hints: readonly string[];
  /** Names the request in the service's logs; null when no answer came. */
  requestId: string | null;
  details: unknown;
}

/** What any error that ends a command comes to. Null for errors of this program. */
export function toFailure(error: unknown): Failure | null {
  if (error instanceof CliError) {
    const inner = isApiError(error.cause) ? error.cause : undefined;
    return {
      exitCode: error.exitCode,
      code: inner?.code ?? "CLI_ERROR",
      message: error.message,
      hints: error.hints,
      requestId: inner?.requestId ?? null,
      details: error.details ?? inner?.details ?? null,
    };
  }
  if (isApiError(error)) return fromAnswer(error);
  if (!(error instanceof Error)) return null;
  const { name } = error;
  if (name === "InvalidParameterError") return toFailure(usageError(error.message));
  if (name === "ConnectionError" || name === "TimeoutError" || name === "InvalidAnswerError") {
    return {
      exitCode: EXIT.unreachable,
      code: name === "InvalidAnswerError" ? "INVALID_ANSWER" : "UNREACHABLE",
      message: `${error.message}${reasonOf(error)}`,
      hints: ["Check the address (workflowctl profiles list) and whether the server is up."],
      requestId: null,
      details: null,
    };
  }
  return null;
}

/** The failure of a request that the server has answered. */
function fromAnswer(error: ApiError): Failure {
  const { code, message, requestId, details, problems } = error;
  return {
    exitCode: exitCodeOf(error),
    code,
    message,
    hints: [
      ...problems.map(({ path, message: text }) => `${path.join(".") || "(all)"}: ${text}`),
      ...hintsFor(error),
    ],
    requestId,
    details: details ?? null,
  };
}

function exitCodeOf({ status, code }: ApiError): ExitCode {
  if (status === 401 || status === 403) return EXIT.notSignedIn;
  if (status === 404) return EXIT.notFound;
  if (status === 409 || status === 412 || code === "INVALID_STATE") return EXIT.conflict;
  if (status === 429) return EXIT.rateLimited;
  return status === 502 || status === 503 || status === 504 ? EXIT.unreachable : EXIT.refused;
}

function hintsFor({ status, retryAfterMs }: ApiError): string[] {
  if (status === 401) return ["Sign in again: workflowctl login"];
  if (status === 403) return ["The key or the role lacks a scope for this."];
  if (status === 429 && retryAfterMs !== null) {
    return [`Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`];
  }
  return [];
}

/** What the system says of a broken connection, such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  for (let cause = causeOf(error); cause !== undefined; cause = causeOf(cause)) {
    if (cause instanceof Object && "code" in cause && typeof cause.code === "string") {
      return ` (${cause.code})`;
    }
  }
  return "";
}

function causeOf(error: unknown): unknown {
  return error instanceof Object && "cause" in error ? error.cause : undefined;
}
