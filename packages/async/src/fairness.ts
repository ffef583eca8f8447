import { setImmediate as nextTurn } from "node:timers/promises";

/** The time for which long work may hold the event loop. */
const TURN_MS = 8;

/** Lets others use the event loop during long work. */
export interface Fairness {
  /**
   * Resolves in the next turn of the event loop when this work has held the loop for its time;
   * otherwise undefined.
   */
  yieldIfDue(): Promise<void> | undefined;
}

/** Measures the time since this work last yielded the event loop. */
export function createFairness(): Fairness {
  let turnEndsAt = performance.now() + TURN_MS;
  const next = async (): Promise<void> => {
    await nextTurn();
    turnEndsAt = performance.now() + TURN_MS;
  };
  return { yieldIfDue: () => (performance.now() > turnEndsAt ? next() : undefined) };
}
