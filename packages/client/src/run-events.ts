import { callForStream } from "./call.ts";
import { amount } from "./api.ts";
import type { CallOptions, Api } from "./api.ts";
import { asDescribed, isObject } from "./described.ts";
import { ConnectionError, InvalidAnswerError, WorkflowError } from "./errors.ts";
import { createEventStreamParser } from "./event-stream.ts";
import type { StreamEvent } from "./event-stream.ts";
import type { RunListItem, StepResult } from "./generated/types.gen.ts";
import { wait } from "./retry.ts";
import { startTimer } from "./timer.ts";

/** The state of a run. */
export type RunUpdate = RunListItem & {
  /** The output; only for a completed run. */
  output?: unknown;
};

/** An event of a run: its state, or the end of a step. */
export type RunEvent =
  { type: "run"; id: string; data: RunUpdate } | { type: "step"; id: string; data: StepResult };

/** Options for following a run. */
export interface WatchOptions extends CallOptions {
  /** The id of the last known event. */
  after?: string | undefined;
  /**
   * A connection counts as lost after so long without a sign of life, in milliseconds; 45,000 by default. The
   * service sends one every 15 s.
   */
  idleTimeoutMs?: number | undefined;
}

/**
 * More retries than for single calls, because following a run for hours has to survive a restart of the service.
 */
const WATCH_RETRIES = 10;
const RECONNECT_MS = 1_000;
/** The shortest pause before a reconnection, whatever a server asks for. */
const MIN_RECONNECT_MS = 100;
const IDLE_TIMEOUT_MS = 45_000;
/** A connection that lasted so long was good, even when the run did nothing. */
const GOOD_CONNECTION_MS = 10_000;

const TERMINAL: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timeout"]);

/** Whether a run with this status has ended. */
export function isTerminal(status: string): boolean {
  return TERMINAL.has(status);
}

/**
 * Follows a run to its end: what has happened already, then each change as it comes, each once. Connections that break
 * are made anew and go on where they were, `maxRetries` (10 by default) in a row. Breaking off the iteration
 * closes the connection.
 *
 * @throws as every call does, once there is no getting through
 */
export async function* watchRun(
  api: Api,
  id: string,
  options: WatchOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  const { after = "", signal } = options;
  const maxRetries = amount("maxRetries", options.maxRetries) ?? WATCH_RETRIES;
  const idleTimeoutMs = amount("idleTimeoutMs", options.idleTimeoutMs) ?? IDLE_TIMEOUT_MS;
  const state: WatchState = { lastEventId: after, reconnectMs: RECONNECT_MS, isOver: false };
  let failures = 0;
  for (;;) {
    const startedAt = Date.now();
    const before = state.lastEventId;
    let lost: unknown;
    // A failure here is final: a refusal, a wrong call, or a server that was tried for long enough.
    const stream = await openStream(api, { id, options, maxRetries }, state);
    try {
      yield* readConnection(stream, { api, idleTimeoutMs }, state);
    } catch (error) {
      if (error instanceof WorkflowError || signal?.aborted === true) throw error;
      lost = error;
    }
    if (state.isOver) return;
    const wasGood = state.lastEventId !== before || Date.now() - startedAt >= GOOD_CONNECTION_MS;
    failures = wasGood ? 0 : failures + 1;
    if (failures > maxRetries) {
      throw new ConnectionError("The stream of events breaks again and again.", { cause: lost });
    }
    // The random part spreads clients that were cut off together.
    await wait(state.reconnectMs * (1 + Math.random() / 2), signal);
  }
}

interface WatchState {
  lastEventId: string;
  /** The pause that the service asks for, within bounds. */
  reconnectMs: number;
  /** True when the run has ended and every event was told. */
  isOver: boolean;
}

interface Watch {
  id: string;
  options: WatchOptions;
  maxRetries: number;
}

/** The events of one connection. Throws the platform's error when the connection breaks. */
async function* readConnection(
  stream: ReadableStream<Uint8Array>,
  { api, idleTimeoutMs }: { api: Api; idleTimeoutMs: number },
  state: WatchState,
): AsyncGenerator<RunEvent, void, undefined> {
  const reader = stream.getReader();
  const events: StreamEvent[] = [];
  const take = createEventStreamParser(
    {
      onEvent: (event) => events.push(event),
      onRetry: (ms) => {
        state.reconnectMs = Math.min(Math.max(ms, MIN_RECONNECT_MS), api.maxRetryDelayMs);
      },
    },
    state.lastEventId,
  );
  try {
    for (;;) {
      const piece = await withinTime(reader.read(), idleTimeoutMs);
      if (piece.done) return;
      take(piece.value);
      for (const event of events.splice(0)) {
        if (event.lastEventId !== "" && event.lastEventId === state.lastEventId) continue;
        state.lastEventId = event.lastEventId;
        const known = toRunEvent(event);
        if (known === null) continue;
        if (known.type === "run" && isTerminal(known.data.status)) state.isOver = true;
        yield known;
        if (state.isOver) return;
      }
    }
  } finally {
    // A broken connection cannot be closed any more.
    await reader.cancel().catch(() => {});
  }
}

async function openStream(
  api: Api,
  { id, options, maxRetries }: Watch,
  state: WatchState,
): Promise<ReadableStream<Uint8Array>> {
  const { signal, timeoutMs, headers, onResponse } = options;
  const position = state.lastEventId === "" ? {} : { "last-event-id": state.lastEventId };
  return callForStream(
    api,
    { method: "GET", path: "/runs/{id}/events", params: { id }, accept: "text/event-stream" },
    {
      signal,
      timeoutMs,
      maxRetries,
      headers: { ...headers, ...position },
      onResponse: (response) => {
        // No content: the run has ended, and every event was told.
        if (response.status === 204) state.isOver = true;
        onResponse?.(response);
      },
    },
  );
}

/** Rejects when the promise takes longer; its later result is ignored. */
async function withinTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  let stopTimer: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    stopTimer = startTimer(ms, () => reject(new Error(`Nothing came for ${ms} ms.`)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    stopTimer?.();
  }
}

/**
 * Null for events that this version does not know.
 * @throws InvalidAnswerError for data that is no JSON object; another connection would bring it again
 */
function toRunEvent({ type, data, lastEventId: id }: StreamEvent): RunEvent | null {
  if (type === "run") return { type, id, data: asDescribed(parseData(data)) };
  if (type === "step") return { type, id, data: asDescribed(parseData(data)) };
  return null;
}

function parseData(text: string): object {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    // Undefined is no object either.
  }
  if (isObject(data)) return data;
  throw new InvalidAnswerError("An event of the stream is not of this API.", 200);
}
