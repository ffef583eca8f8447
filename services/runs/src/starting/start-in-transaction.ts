import type { Database, Transaction } from "@workflow/db";
import type { EventClaim } from "../store/claim-events.ts";
import { insertRuns } from "../store/start-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { NewTask } from "../task-runtime/port.ts";
import type { AcceptedRuns } from "./accepted-runs.ts";
import type { Dispatch, TaskRuntime } from "../task-runtime/runtime.ts";

/** The dependencies of storing runs. */
export interface StoringContext {
  database: Database;
  runtime: TaskRuntime;
  acceptedRuns: AcceptedRuns;
}

/** The ways in which a transaction starts runs; each may be used once. */
export interface Starting {
  /**
   * Stores runs whose deployment is still the active one, with their tasks, and returns their ids. A run
   * is left out if a pause or an update overtook it, or if its event (`claims`) starts none.
   */
  insert(runs: readonly NewRun[], claims?: readonly EventClaim[]): Promise<ReadonlySet<string>>;
  /** Makes tasks for runs that the transaction itself has stored. */
  dispatch(tasks: readonly NewTask[]): Promise<void>;
}

/**
 * Starts runs together with whatever else `work` writes. Either all of it is committed and the workers
 * are notified, or none. The work may run twice.
 */
export async function startInTransaction<T>(
  context: StoringContext,
  work: (transaction: Transaction, starting: Starting) => Promise<T>,
): Promise<T> {
  let begun: { dispatch: Dispatch; stored: ReadonlySet<string> } | null = null;
  const begin = (dispatch: Dispatch): void => {
    // The transaction was rolled back and is tried again.
    begun?.dispatch.abandoned();
    begun = { dispatch, stored: new Set() };
  };
  const current = (): typeof begun => begun;
  try {
    const result = await context.database.transaction((transaction) =>
      work(transaction, {
        async insert(runs, claims) {
          if (runs.length === 0) return new Set();
          const dispatch = context.acceptedRuns.dispatch(runs);
          begin(dispatch);
          const stored = await insertRuns(transaction, runs, dispatch, claims);
          if (dispatch.cte === undefined) await dispatch.write(transaction, [...stored]);
          begun = { dispatch, stored };
          return stored;
        },
        async dispatch(tasks) {
          const dispatch = context.runtime.dispatch(tasks);
          begin(dispatch);
          const runIds = tasks.map(({ runId }) => runId);
          await dispatch.write(transaction, runIds);
          begun = { dispatch, stored: new Set(runIds) };
        },
      }),
    );
    const started = current();
    started?.dispatch.committed(started.stored);
    return result;
  } catch (error) {
    current()?.dispatch.abandoned();
    throw error;
  }
}
