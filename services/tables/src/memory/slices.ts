import { setImmediate as nextTurn } from "node:timers/promises";
import { Turns } from "@workflow/async";
import type { Steps } from "../engine/index.ts";

/** The milliseconds for which one slice of work may hold a thread. */
const SLICE_MS = 8;
/** A slice of loading is shorter, since loading takes longer than any evaluation. */
export const LOAD_SLICE_MS = 2;

const NEVER = new AbortController().signal;

/** The owner of work in slices. */
export interface SliceOwner {
  readonly companyId: string;
  /**
   * Whether a transaction stays open meanwhile. Such work does not wait behind other questions of its company.
   */
  readonly isFrozen: boolean;
  /** The length of a slice in milliseconds; 8 by default. */
  readonly sliceMs?: number;
  /** Aborted when nobody wants the work any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does work in slices, one at a time. Companies take turns, and so do the questions of each company. Another
 * company's next slice waits for at most one slice of each company, however many questions one company has.
 */
export class Slices {
  readonly #turns = new Turns({ perTenant: 1, total: 1 });

  /**
   * Returns the result of some steps, or null when it has become useless before a slice.
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
        // Messages arrive meanwhile; one of them may say that a caller has left.
        await nextTurn();
        signal.throwIfAborted();
        if (!isOfUse()) return null;
        const answer = workUntil(steps, performance.now() + sliceMs);
        if (answer !== null) return answer;
        // The next turn is taken before this one ends; otherwise the next company would be served twice.
        turn = this.#turns.take(line, signal);
      } finally {
        leave();
      }
    }
  }
}

/** Does work that must not stop. It pauses between slices, so that the thread can do other work. */
export async function runPaced<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const done = workUntil(steps, performance.now() + SLICE_MS);
    if (done !== null) return done.answer;
    await nextTurn();
  }
}

/** Returns the result, or null when the time ends first. At least one step is done. */
function workUntil<Result>(steps: Steps<Result>, endsAt: number): { answer: Result } | null {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { answer: step.value };
    if (performance.now() >= endsAt) return null;
  }
}
