import { deleteGivenUp, listGivenUp } from "../store/given-up-runs.ts";
import { cancelWaitedChildren } from "./cancel-children.ts";
import { cancelRuns } from "./cancel-runs.ts";
import type { CancelContext } from "./cancel-runs.ts";

const BATCH_MAX = 100;

/**
 * Cancels the runs that executions have given up, and those that these wait for. A note is deleted after
 * its run was cancelled. So if the process dies in between, the next one does it.
 */
export async function cancelGivenUp(context: CancelContext): Promise<void> {
  for (;;) {
    const notes = await listGivenUp(context.database, BATCH_MAX);
    if (notes.length === 0) return;
    const cancelled = await cancelRuns(
      context,
      notes.map(({ runId }) => runId),
      null,
    );
    await cancelWaitedChildren(context, cancelled);
    await deleteGivenUp(
      context.database,
      notes.map(({ id }) => id),
    );
  }
}

/**
 * Makes a function that asks for a round of work. Rounds follow one another; requests during a round lead
 * to one more, however many there are. One checkpoint may give up thousands of runs and asks for each.
 *
 * @param round does all work that is there when it begins; must not reject
 */
export function inRounds(round: () => Promise<void>): () => void {
  let isAtWork = false;
  let again = false;
  const work = async (): Promise<void> => {
    isAtWork = true;
    do {
      again = false;
      await round();
    } while (again);
    isAtWork = false;
  };
  return () => {
    again = true;
    if (!isAtWork) void work();
  };
}
