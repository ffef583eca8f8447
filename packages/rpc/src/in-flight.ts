import { status as Code } from "@grpc/grpc-js";
import type { AppError } from "@workflow/errors";
import type { CallContext } from "./context.ts";
import type { ReportRequest } from "./request-log.ts";

interface CallState {
  kind: "waiting" | "unary" | "stream";
  isHandled: boolean;
  isOver: boolean;
}

/**
 * The calls that were let in and are not done with. A call has two ends, which may come in either
 * order: its handler returns, and its stream closes. It is reported at the first, forgotten when
 * both have come.
 */
export class InFlight {
  readonly #calls = new Map<CallContext, CallState>();
  readonly #report: ReportRequest;
  #onEmpty: (() => void) | undefined;

  constructor(report: ReportRequest) {
    this.#report = report;
  }

  /** The guard has let the call in; its message is still to be read. */
  admitted(context: CallContext): void {
    this.#calls.set(context, { kind: "waiting", isHandled: false, isOver: false });
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
      // grpc-js rounds deadlines to milliseconds and its timer may fire one early.
      const isLate = Date.now() >= context.start.deadlineMs - 2;
      const code = isLate ? Code.DEADLINE_EXCEEDED : Code.CANCELLED;
      context.abort(isLate ? "The deadline has passed." : "The caller has cancelled.");
      this.#report(context.start, context.identity.companyId, code);
    }
    this.#forgetIfDone(context, state);
  }

  /** Asks every open stream to end. */
  abortStreams(message: string): void {
    for (const [context, state] of this.#calls) {
      if (state.kind === "stream") context.abort(message);
    }
  }

  /** Resolves when no call is left. */
  drained(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onEmpty = resolve));
  }

  #forgetIfDone(context: CallContext, state: CallState): void {
    const isDone = state.isOver && (state.isHandled || state.kind === "waiting");
    if (!isDone) return;
    this.#calls.delete(context);
    if (this.#calls.size === 0) this.#onEmpty?.();
  }
}
