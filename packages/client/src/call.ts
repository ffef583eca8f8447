import { checkStatus, readEnvelope } from "./answer.ts";
import type { Envelope } from "./answer.ts";
import { amount } from "./api.ts";
import type { Api } from "./api.ts";
import { openBody } from "./body-stream.ts";
import { asDescribed } from "./described.ts";
import { ApiError, ConnectionError, InvalidAnswerError, TimeoutError } from "./errors.ts";
import { prepare } from "./request.ts";
import type { AnyOptions, Call, PreparedCall } from "./request.ts";
import { mayBeReceived, mayRepeat, retryDelayMs, wait } from "./retry.ts";
import { startTimer } from "./timer.ts";

/**
 * Makes a call and returns the data of its answer.
 *
 * @throws ApiError, ConnectionError, TimeoutError, InvalidAnswerError, or the reason of the caller's signal
 * @throws TypeError for a time or a count among the options that is none
 */
export async function call<T>(api: Api, what: Call, options: AnyOptions = {}): Promise<T> {
  const { data } = await callForEnvelope(api, what, options);
  return asDescribed(data);
}

/** Makes a call like `call`, and returns the list's `meta` beside its items. */
export function callForEnvelope(api: Api, what: Call, options: AnyOptions): Promise<Envelope> {
  return withRetries(api, { what, options, read: readEnvelope });
}

/**
 * Makes a call like `call`, for answers that come bit by bit. Retries and `timeoutMs` end when the answer begins.
 * The signal also ends later reading.
 */
export function callForStream(
  api: Api,
  what: Call,
  options: AnyOptions = {},
): Promise<ReadableStream<Uint8Array>> {
  const read = (response: Response, release: () => void): Promise<ReadableStream<Uint8Array>> =>
    openBody(response, { accept: what.accept, onEnd: release });
  return withRetries(api, { what, options, read, isStream: true });
}

interface Exchange<T> {
  what: Call;
  options: AnyOptions;
  /**
   * Reads a successful answer.
   * @param release detaches the caller's signal; streams call it at their end
   */
  read: (response: Response, release: () => void) => Promise<T>;
  /** True when the answer continues after `read`. */
  isStream?: boolean;
}

async function withRetries<T>(api: Api, exchange: Exchange<T>): Promise<T> {
  const { what, options } = exchange;
  const { signal, onResponse } = options;
  const maxRetries = amount("maxRetries", options.maxRetries) ?? api.maxRetries;
  const prepared = prepare(api, what, options);
  let mayHaveBeenReceived = false;
  for (let attempts = 1; ; attempts += 1) {
    const outcome = await tryOnce(api, prepared, exchange);
    if ("result" in outcome) {
      const { status, headers } = outcome.response;
      onResponse?.({ status, headers, requestId: headers.get("x-request-id") });
      return outcome.result;
    }
    const { error } = outcome;
    mayHaveBeenReceived ||= mayBeReceived(error);
    if (hasAttempts(error)) Object.assign(error, { attempts, mayHaveBeenReceived });
    if (attempts > maxRetries || !mayRepeat(error, prepared.isRepeatable)) throw error;
    const delayMs = retryDelayMs(error, attempts, api);
    if (delayMs === null) throw error;
    await wait(delayMs, signal);
  }
}

type Outcome<T> = { result: T; response: Response } | { error: unknown };

async function tryOnce<T>(
  api: Api,
  { wire }: PreparedCall,
  { options, read, isStream = false }: Exchange<T>,
): Promise<Outcome<T>> {
  const { signal } = options;
  const timeoutMs = amount("timeoutMs", options.timeoutMs) ?? api.timeoutMs;
  signal?.throwIfAborted();
  const exchange = new AbortController();
  const abort = (): void => exchange.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let isLate = false;
  const stopTimer = startTimer(timeoutMs, () => {
    isLate = true;
    exchange.abort();
  });
  const release = (): void => signal?.removeEventListener("abort", abort);
  try {
    const response = await api.send({ ...wire, signal: exchange.signal });
    await checkStatus(response);
    const result = await read(response, release);
    if (!isStream) release();
    return { result, response };
  } catch (error) {
    release();
    signal?.throwIfAborted();
    if (isLate) return { error: new TimeoutError(`There was no answer within ${timeoutMs} ms.`) };
    if (error instanceof ApiError || error instanceof InvalidAnswerError) return { error };
    return {
      error: new ConnectionError("The connection to the service failed.", { cause: error }),
    };
  } finally {
    stopTimer();
  }
}

function hasAttempts(error: unknown): error is ApiError | ConnectionError | TimeoutError {
  return (
    error instanceof ApiError || error instanceof ConnectionError || error instanceof TimeoutError
  );
}
