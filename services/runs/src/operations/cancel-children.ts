import { listLiveChildren } from "../store/end-run.ts";
import { cancelRuns } from "./cancel-runs.ts";
import type { CancelContext } from "./cancel-runs.ts";

/**
 * Cancels the runs that ended runs were waiting for, and those that these wait for, level by level. It
 * follows the transaction that ended the parents. If the process dies in between, live children under an
 * ended parent are found by upkeep.
 *
 * @param requestId the request that ended the parents; null when none did
 */
export async function cancelWaitedChildren(
  context: CancelContext,
  parentRunIds: readonly string[],
  requestId: string | null = null,
): Promise<void> {
  let parents = parentRunIds;
  // Runs nest 25 deep at most (D17).
  while (parents.length > 0) {
    const children = await listLiveChildren(context.database, parents);
    await cancelRuns(context, children, requestId);
    parents = children;
  }
}
