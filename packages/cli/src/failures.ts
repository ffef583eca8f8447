import { isApiError } from "@workflow/client";
import type { ApiError } from "@workflow/client";
import { EXIT } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";

/** An error that ends the command. Its message is for the person who typed it. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  /** The next steps, a line each. */
  readonly hints: readonly string[];
  /** Further facts for `--json`. */
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

/** An error of the command line or of a file. */
export function usageError(message: string, ...hints: string[]): CliError {
  return new CliError(message, EXIT.usage, { hints });
}

/** A failure as the command tells it: in words, as JSON and by the exit code. */
export interface Failure {
  exitCode: ExitCode;
  code: string;
  message: string;
  hints: readonly string[];
  /** The id of the request in the service's logs; null when no answer came. */
  requestId: string | null;
  details: unknown;
}

/** The failure that an error ends the command with. */
export function toFailure(error: unknown): Failure {
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
  if (!(error instanceof Error)) return defect(String(error), []);
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
  if ("syscall" in error) return toFailure(new CliError(error.message, EXIT.notWritten));
  return defect(
    `workflowctl cannot go on: ${error.message}`,
    error.stack?.split("\n").slice(1) ?? [],
  );
}

/** Whether the same command may succeed a little later. */
export function mayPass({ exitCode }: Failure): boolean {
  return exitCode === EXIT.unreachable || exitCode === EXIT.rateLimited;
}

/** The progress of a command that does one thing after the other. */
export interface Part {
  /** The thing that failed, such as a file. The message begins with it. */
  subject: string;
  /** What was done before the failure, in words and for `--json`. */
  hints: readonly string[];
  done: unknown;
  isInterrupted: boolean;
}

/** The same error with what was done before it. Unforeseen errors stay as they are. */
export function afterPart(error: unknown, { subject, hints, done, isInterrupted }: Part): unknown {
  const failure = toFailure(error);
  const { exitCode } = failure;
  const isCut = isInterrupted && (exitCode === EXIT.unreachable || exitCode === EXIT.defect);
  if (exitCode === EXIT.defect && !isCut) return error;
  return new CliError(
    isCut ? "Interrupted." : `${subject}: ${failure.message}`,
    isCut ? EXIT.interrupted : exitCode,
    {
      cause: error,
      hints: [...(isCut ? [] : failure.hints), ...hints],
      details: { done, problems: failure.details },
    },
  );
}

/** An unforeseen error: a fault of this program, or an answer of another version of the server. */
function defect(message: string, trace: readonly string[]): Failure {
  return {
    exitCode: EXIT.defect,
    code: "CLI_DEFECT",
    message,
    hints: ["Please report it, with these lines:", ...trace.map((line) => line.trim())],
    requestId: null,
    details: null,
  };
}

/** The failure for an answer of the server. */
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

/** The exit code for a refusal of the server. */
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

/** The system's code for a broken connection, such as ECONNREFUSED. */
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
