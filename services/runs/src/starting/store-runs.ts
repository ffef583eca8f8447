import type { EventClaim } from "../store/claim-events.ts";
import { insertRuns } from "../store/start-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import { startInTransaction } from "./start-in-transaction.ts";
import type { StoringContext } from "./start-in-transaction.ts";

/**
 * Stores runs and their tasks in one statement, and returns the ids of the stored runs. `insertRuns` says
 * which runs are left out. Resolves after the commit.
 */
export async function storeRuns(
  context: StoringContext,
  runs: readonly NewRun[],
  claims: readonly EventClaim[] = [],
): Promise<ReadonlySet<string>> {
  const dispatch = context.acceptedRuns.dispatch(runs);
  if (dispatch.cte === undefined) {
    dispatch.abandoned();
    return startInTransaction(context, (_transaction, starting) => starting.insert(runs, claims));
  }
  try {
    const stored = await insertRuns(context.database, runs, dispatch, claims);
    dispatch.committed(stored);
    return stored;
  } catch (error) {
    dispatch.abandoned();
    throw error;
  }
}
