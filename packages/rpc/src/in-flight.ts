import { status as Code } from "@grpc/grpc-js";
import type { ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { AppError } from "@workflow/errors";
import type { CallContext } from "./context.ts";
import { toErrorStatus } from "./error-status.ts";
import type { ReportRequest } from "./request-log.ts";

const CLOCK_TOLERANCE_MS = 5;

interface CallState {
  kind: "waiting" | "unary" | "stream";
  isHandled: boolean;
  isOver: boolean;
  call: ServerInterceptingCallInterface;
}

/**
 * The calls that were let in and are not done with. A call has two ends, which may come in either
 * order: its handler returns, and its stream closes. It is reported at the first, forgotten when
 * both have come.
 */
export class InFlight {
  readonly #calls = new Map<CallContext, CallState>();
  readonly #report: ReportRequest;
  #onIdle = (): void => {};

  constructor(report: ReportRequest) {
    this.#report = report;
  }

  /** The guard has let the call in; its message is still to be read. */
  admitted(context: CallContext, call: ServerInterceptingCallInterface): void {
    this.#calls.set(context, { kind: "waiting", isHandled: false, isOver: false, call });
  }

  /** The handler begins. */
  started(context: CallContext, kind: "unary" | "stream"): void {
    const state = this.#calls.get(context);
    if (state !== undefined) state.kind = kind;
  }

  /** The handler has ended with this outcome. */
  handled(context: CallContext, code: Code, error?: AppError): void {
    const state = this.#calls.get(context);
    if (state === undefined || state.isHandled) return;
    state.isHandled = true;
    if (!state.isOver) this.#report(context.start, context.identity.companyId, code, error);
    this.#forgetIfDone(context, state);
  }

  /** The stream has closed: the answer was sent, or the caller is not waiting any more. */
  over(context: CallContext): void {
    const state = this.#calls.get(context);
    if (state === undefined || state.isOver) return;
    state.isOver = true;
    if (!state.isHandled) {
      this.#report(context.start, context.identity.companyId, abortEarly(context));
    }
    this.#forgetIfDone(context, state);
  }

  /** Resolves when no call is left, of those to come as well; to be asked once. */
  whenIdle(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onIdle = resolve));
  }

  /** Asks every open stream to end, with this error. */
  abortStreams(error: AppError): void {
    for (const [context, state] of this.#calls) {
      if (state.kind === "stream") context.abort(error);
    }
  }

  /** Answers whatever still runs with this error, without waiting for its handler. */
  endAll(error: AppError): void {
    for (const [context, { call }] of this.#calls) {
      context.abort(error);
      call.sendStatus(toErrorStatus(error));
    }
  }

  #forgetIfDone(context: CallContext, state: CallState): void {
    const isDone = state.isOver && (state.isHandled || state.kind === "waiting");
    if (isDone) this.#calls.delete(context);
    if (this.#calls.size === 0) this.#onIdle();
  }
}

/** Aborts a call that ended before its handler and tells how it ended. */
function abortEarly(context: CallContext): Code {
  if (context.abortReason !== undefined) return toErrorStatus(context.abortReason).code;
  // Deadlines travel as a duration, so a caller's own one runs out a moment before ours.
  const isLate = Date.now() >= context.start.deadlineMs - CLOCK_TOLERANCE_MS;
  const message = isLate ? "The deadline has passed." : "The caller has cancelled.";
  context.abort(new AppError("UNAVAILABLE", message));
  return isLate ? Code.DEADLINE_EXCEEDED : Code.CANCELLED;
}
