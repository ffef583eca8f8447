import { createFairness } from "@workflow/async";
import type { Steps } from "../engine/index.ts";

/**
 * Does work in slices, between which the thread goes on with what else it has to do. Null when the work has
 * become useless between two of them.
 */
export async function inSlices<Result>(
  steps: Steps<Result>,
  isOfUse: () => boolean,
): Promise<{ answer: Result } | null> {
  const fairness = createFairness();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return { answer: step.value };
    const turn = fairness.yieldIfDue();
    if (turn === undefined) continue;
    await turn;
    if (!isOfUse()) return null;
  }
}
