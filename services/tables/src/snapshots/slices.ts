import { setImmediate as nextTurn } from "node:timers/promises";
import type { Steps } from "../engine/index.ts";

/** Work may hold a thread for so many milliseconds before its other questions get it. */
const SLICE_MS = 8;

/**
 * Does work in slices, between which the thread goes on with what else it has to do. Null when the work has
 * become useless between two of them.
 */
export async function inSlices<Result>(
  steps: Steps<Result>,
  isOfUse: () => boolean,
): Promise<{ answer: Result } | null> {
  let endsAt = performance.now() + SLICE_MS;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return { answer: step.value };
    if (performance.now() < endsAt) continue;
    await nextTurn();
    if (!isOfUse()) return null;
    endsAt = performance.now() + SLICE_MS;
  }
}
