import { setImmediate as nextTurn } from "node:timers/promises";

/** Long work may hold the event loop for this long before others get a turn. */
const TURN_MS = 8;

/** Lets others use the event loop during long work. */
export interface Fairness {
  /**
   * Resolves in the next turn when this work has held the event loop for long; else it is undefined.
   */
  yieldIfDue(): Promise<void> | undefined;
}

/** Counts the time since the event loop was last given to others. */
export function createFairness(): Fairness {
  let turnEndsAt = performance.now() + TURN_MS;
  const next = async (): Promise<void> => {
    await nextTurn();
    turnEndsAt = performance.now() + TURN_MS;
  };
  return { yieldIfDue: () => (performance.now() > turnEndsAt ? next() : undefined) };
}
