import { setImmediate as nextTurn } from "node:timers/promises";
import { Turns } from "@workflow/async";
import type { Steps } from "../engine/index.ts";

/** Work may hold a thread for so many milliseconds before its other questions get it. */
const SLICE_MS = 8;
/** Columns are taken in for longer than any question is evaluated, so each slice of that is short. */
export const LOAD_SLICE_MS = 2;

const NEVER = new AbortController().signal;

/** The owner of work that is done in slices. */
export interface SliceOwner {
  readonly companyId: string;
  /** Whether a transaction is open meanwhile, which should not wait behind its company's other questions. */
  readonly isFrozen: boolean;
  /** The length of a slice in milliseconds; 8 by default. */
  readonly sliceMs?: number;
  /** Aborted when nobody wants the work any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does work in slices, one at a time. Companies take turns, and the questions of each of them do: however many
 * questions one company has, another's next slice waits for one slice of each company.
 */
export class Slices {
  readonly #turns = new Turns({ perTenant: 1, total: 1 });

  /**
   * The result of some steps; null when they have become useless before a slice.
   *
   * @throws the reason of the owner's signal when that is aborted before a slice
   */
  async run<Result>(
    { companyId, isFrozen, sliceMs = SLICE_MS, signal = NEVER }: SliceOwner,
    steps: Steps<Result>,
    isOfUse: () => boolean,
  ): Promise<{ answer: Result } | null> {
    const line = isFrozen ? `${companyId} frozen` : companyId;
    let turn = this.#turns.take(line, signal);
    for (;;) {
      const leave = await turn;
      try {
        // Messages come in meanwhile; one of them may tell that a caller has gone.
        await nextTurn();
        signal.throwIfAborted();
        if (!isOfUse()) return null;
        const answer = workUntil(steps, performance.now() + sliceMs);
        if (answer !== null) return answer;
        // Before this turn ends, or the next company would be served twice.
        turn = this.#turns.take(line, signal);
      } finally {
        leave();
      }
    }
  }
}

/** Does work that must not stop in slices, between which the thread goes on with what else it has to do. */
export async function runPaced<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const done = workUntil(steps, performance.now() + SLICE_MS);
    if (done !== null) return done.answer;
    await nextTurn();
  }
}

/** The result, or null when the time is over first; at least one step is done. */
function workUntil<Result>(steps: Steps<Result>, endsAt: number): { answer: Result } | null {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { answer: step.value };
    if (performance.now() >= endsAt) return null;
  }
}
