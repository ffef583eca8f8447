import type { SqlFragment, Transaction } from "@workflow/db";
import type * as port from "./port.ts";

/** Postgres, where the runs are. */
export interface Platform {
  transaction: Transaction;
  statementPart: SqlFragment;
}

/** A task runtime whose commands are staged in the transactions that write runs. */
export type TaskRuntime = port.TaskRuntimePort<Platform>;
/** Runs that are being stored, on their way into such a runtime. */
export type Dispatch = port.Dispatch<Platform>;
/** A worker of such a runtime. */
export type RuntimeWorker = port.RuntimeWorker<Platform>;
/** What such a worker writes with the runs, where its tasks lie beside them. */
export type Settling = port.Settling<Platform>;
