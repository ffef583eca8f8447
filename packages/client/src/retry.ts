import type { Api } from "./api.ts";
import { isObject } from "./described.ts";
import { ApiError, ConnectionError, TimeoutError } from "./errors.ts";
import { startTimer } from "./timer.ts";

/** Statuses of an overloaded or absent service, where another try may succeed. */
const PASSING = new Set([429, 502, 503, 504]);
/** Codes of connections that failed before anything was sent. */
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

const BACKOFF_BASE_MS = 500;
const BACKOFF_MAX_MS = 8_000;

/**
 * Whether a failed request may be sent again.
 * @param isRepeatable whether its work may be done twice
 */
export function mayRepeat(error: unknown, isRepeatable: boolean): boolean {
  const isFree = isRepeatable || !mayBeReceived(error);
  if (error instanceof ApiError) return isFree && PASSING.has(error.status);
  return isFree && (error instanceof TimeoutError || error instanceof ConnectionError);
}

/** Whether the service may have received a failed try. Unknown cases count as received. */
export function mayBeReceived(error: unknown): boolean {
  // A request that a limit refused was not handled. The work of others may be done.
  if (error instanceof ApiError) return error.status !== 429;
  return !(error instanceof ConnectionError && NOT_SENT.has(causeCode(error)));
}

/**
 * How long to wait before the next try, in milliseconds: what the service asks for and a little more, so that
 * not all come back at once, or else a random part of a time that doubles. Null when the service asks for more than
 * the client waits.
 *
 * @param attempts how many tries there were
 */
export function retryDelayMs(
  error: unknown,
  attempts: number,
  { maxRetryDelayMs }: Pick<Api, "maxRetryDelayMs">,
): number | null {
  const asked = error instanceof ApiError ? error.retryAfterMs : null;
  const limit = Math.min(maxRetryDelayMs, BACKOFF_MAX_MS);
  const jitter = Math.random() * Math.min(limit, BACKOFF_BASE_MS * 2 ** (attempts - 1));
  if (asked === null) return jitter;
  // A number with too many digits becomes Infinity.
  return asked > maxRetryDelayMs || asked === Infinity
    ? null
    : Math.min(maxRetryDelayMs, asked + jitter);
}

/**
 * The header `Retry-After` (RFC 9110, section 10.2.3) in milliseconds from now; null when it is missing or
 * unreadable.
 */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Waits so long. Rejects with the signal's reason when it is aborted before. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      stopTimer();
      reject(signal?.reason);
    };
    const stopTimer = startTimer(ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted === true) abort();
  });
}

/**
 * The system's code of a failed connection, which Node gives in the cause's cause; empty when there is none.
 */
function causeCode({ cause }: ConnectionError): string {
  const code = memberOf(memberOf(cause, "cause"), "code") ?? memberOf(cause, "code");
  return typeof code === "string" ? code : "";
}

/**
 * Undefined for other values than objects. `instanceof Error` would miss errors of another realm.
 */
function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
