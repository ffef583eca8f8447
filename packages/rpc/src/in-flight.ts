import { status as Code } from "@grpc/grpc-js";
import type { ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { AppError } from "@workflow/errors";
import type { CallContext } from "./context.ts";
import { toErrorStatus } from "./error-status.ts";
import type { ReportRequest } from "./request-log.ts";

const CLOCK_TOLERANCE_MS = 5;

/** The progress of a call. */
interface CallState {
  readonly context: CallContext;
  readonly call: ServerInterceptingCallInterface;
  kind: "waiting" | "unary" | "stream";
  isHandled: boolean;
  isOver: boolean;
  /** The index among the calls in flight; -1 once the call is finished. */
  place: number;
}

const STATE = Symbol("state of the call");

interface FollowedContext extends CallContext {
  [STATE]?: CallState;
}

/**
 * The admitted calls that are not finished. A call ends twice, in either order: its handler
 * returns, and its stream closes. The first end is reported; after the second the call is removed.
 * The calls are in an array, where the last one replaces a removed one. A Map that changes with
 * each call keeps its former entries from the collector's short cycles (ADR 49).
 */
export class InFlight {
  readonly #calls: CallState[] = [];
  readonly #report: ReportRequest;
  #onIdle = (): void => {};

  constructor(report: ReportRequest) {
    this.#report = report;
  }

  /** The guard has admitted the call; its message is still to be read. */
  admitted(context: FollowedContext, call: ServerInterceptingCallInterface): void {
    const place = this.#calls.length;
    const state = {
      context,
      call,
      kind: "waiting",
      isHandled: false,
      isOver: false,
      place,
    } as const;
    context[STATE] = state;
    this.#calls.push(state);
  }

  /** The handler begins. */
  started(context: FollowedContext, kind: "unary" | "stream"): void {
    const state = context[STATE];
    if (state !== undefined) state.kind = kind;
  }

  /** The handler has ended with this outcome. */
  handled(context: FollowedContext, code: Code, error?: AppError): void {
    const state = context[STATE];
    if (state === undefined || state.isHandled) return;
    state.isHandled = true;
    if (!state.isOver) this.#report(context.start, context.identity.companyId, code, error);
    this.#forgetIfDone(state);
  }

  /** The stream has closed: the answer was sent, or the caller has stopped waiting. */
  over(context: FollowedContext): void {
    const state = context[STATE];
    if (state === undefined || state.isOver) return;
    state.isOver = true;
    if (!state.isHandled) {
      this.#report(context.start, context.identity.companyId, abortEarly(context));
    }
    this.#forgetIfDone(state);
  }

  /** Resolves when no call is left, later ones included; call it once. */
  whenIdle(): Promise<void> {
    if (this.#calls.length === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onIdle = resolve));
  }

  /** Asks every open stream to end, with this error. */
  abortStreams(error: AppError): void {
    for (const { context, kind } of this.#calls.slice()) {
      if (kind === "stream") context.abort(error);
    }
  }

  /** Answers whatever still runs with this error, without waiting for its handler. */
  endAll(error: AppError): void {
    for (const { context, call } of this.#calls.slice()) {
      context.abort(error);
      call.sendStatus(toErrorStatus(error));
    }
  }

  #forgetIfDone(state: CallState): void {
    const isDone = state.isOver && (state.isHandled || state.kind === "waiting");
    if (!isDone || state.place === -1) return;
    const last = this.#calls.pop();
    if (last !== undefined && last !== state) {
      this.#calls[state.place] = last;
      last.place = state.place;
    }
    state.place = -1;
    if (this.#calls.length === 0) this.#onIdle();
  }
}

/** Aborts a call that ended before its handler and tells how it ended. */
function abortEarly(context: CallContext): Code {
  if (context.abortReason !== undefined) return toErrorStatus(context.abortReason).code;
  // Deadlines travel as durations, so the caller's own deadline passes a moment before ours.
  const isLate = Date.now() >= context.start.deadlineMs - CLOCK_TOLERANCE_MS;
  const message = isLate ? "The deadline has passed." : "The caller has cancelled.";
  context.abort(new AppError("UNAVAILABLE", message));
  return isLate ? Code.DEADLINE_EXCEEDED : Code.CANCELLED;
}
