import { isNativeError } from "node:util/types";
import { AppError, isAppError } from "@workflow/errors";
import type { Interceptor } from "slonik";
import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  InvalidInputError,
} from "slonik";

export const RETRY_AFTER_MS = 1_000;

/** Classes and codes of SQLSTATE that a retry may overcome. */
const UNAVAILABLE_STATES = [
  "08", // the connection failed
  "53", // out of connections, memory or disk
  "57P", // shutting down, starting up, crashed
  // A statement over its time limit, nearly always because of load or another session's lock.
  "57014",
  "55P03", // a lock was not to be had
  "25006", // a standby that has not taken over yet
  "40001",
  "40P01", // conflicts that the retries did not get past
];

/**
 * Text that Postgres refuses: NUL characters, lone surrogates, a wrong format for the column's
 * type.
 */
const BAD_TEXT_STATES = ["22P05", "22021", "22P02"];

const NETWORK_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/**
 * slonik reports 22P02 with an error that it also uses for faults of the calling code, and drops
 * the code. Those that a statement caused are remembered here to tell the two apart.
 */
const inputRejections = new WeakSet<Error>();

export const inputRejectionRecorder: Interceptor = {
  name: "input-rejection-recorder",
  queryExecutionError: (_context, _query, error) => {
    if (error instanceof InvalidInputError) inputRejections.add(error);
    return null;
  },
};

/**
 * Translates a failed query for the caller. UNAVAILABLE (with `retryAfterMs`): the database is
 * away, overloaded or slower than the statement timeout, or conflicts did not end. BAD_REQUEST:
 * text that Postgres cannot store. INTERNAL_ERROR: everything else. An AppError is returned
 * unchanged. The store maps constraint violations first, see `constraintOf`.
 */
export function databaseErrorToAppError(error: unknown): AppError {
  if (isAppError(error)) return error;
  const sqlState = sqlStateOf(error);
  const internal = describe(error, sqlState);
  if (sqlState === null ? isConnectionLoss(error) : startsWithAny(sqlState, UNAVAILABLE_STATES)) {
    return new AppError("UNAVAILABLE", "The service is temporarily unavailable.", {
      internal,
      retryAfterMs: RETRY_AFTER_MS,
      cause: error,
    });
  }
  if (isBadText(error, sqlState)) {
    return new AppError("BAD_REQUEST", "The request contains text that cannot be stored.", {
      internal,
      cause: error,
    });
  }
  return new AppError("INTERNAL_ERROR", "An internal error occurred.", { internal, cause: error });
}

/** The name of the constraint that a query violated; null for another error. */
export function constraintOf(error: unknown): string | null {
  for (const link of causes(error)) {
    if ("constraint" in link && typeof link.constraint === "string") return link.constraint;
  }
  return null;
}

/** The server's five-character code, from anywhere in the chain of causes, or null. */
export function sqlStateOf(error: unknown): string | null {
  for (const link of causes(error)) {
    if (!("code" in link) || typeof link.code !== "string") continue;
    // Node's own codes can have five letters too (EPIPE); only the server's errors have a severity.
    if ("severity" in link && /^[0-9A-Z]{5}$/.test(link.code)) return link.code;
  }
  return null;
}

function isConnectionLoss(error: unknown): boolean {
  for (const link of causes(error)) {
    if (
      link instanceof ConnectionError ||
      link instanceof BackendTerminatedError ||
      link instanceof BackendTerminatedUnexpectedlyError
    ) {
      return true;
    }
    if ("code" in link && typeof link.code === "string") {
      if (NETWORK_CODES.has(link.code)) return true;
      // The socket file of a server that is down does not exist.
      if (link.code === "ENOENT" && "syscall" in link && link.syscall === "connect") return true;
    }
  }
  return false;
}

function isBadText(error: unknown, sqlState: string | null): boolean {
  if (sqlState !== null) return BAD_TEXT_STATES.includes(sqlState);
  return error instanceof InvalidInputError && inputRejections.has(error);
}

/**
 * The error for our logs. The server's texts of classes 22 and 23 quote values, so they are left
 * out.
 */
function describe(error: unknown, sqlState: string | null): string {
  if (sqlState !== null) {
    const constraint = constraintOf(error);
    const quotesValues = sqlState.startsWith("22") || sqlState.startsWith("23");
    const text = quotesValues ? (constraint ?? "") : messageOf(error);
    return `SQLSTATE ${sqlState} ${text}`.trim();
  }
  return error instanceof InvalidInputError ? error.constructor.name : messageOf(error);
}

function messageOf(error: unknown): string {
  return isNativeError(error) ? error.message : String(error);
}

function startsWithAny(text: string, prefixes: string[]): boolean {
  return prefixes.some((prefix) => text.startsWith(prefix));
}

function* causes(error: unknown): Generator<Error> {
  let link = error;
  for (let depth = 0; depth < 8 && isNativeError(link); depth += 1) {
    yield link;
    // Several addresses of one host, all of which refused.
    if ("errors" in link && Array.isArray(link.errors)) yield* link.errors.filter(isNativeError);
    link = link.cause;
  }
}
