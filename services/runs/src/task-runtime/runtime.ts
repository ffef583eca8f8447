import type { SqlFragment, Transaction } from "@workflow/db";
import type * as port from "./port.ts";

/** The store is Postgres, where the runs are. */
export interface Platform {
  transaction: Transaction;
  statementPart: SqlFragment;
}

/** A task runtime whose commands are staged in the transactions that write runs. */
export type TaskRuntime = port.TaskRuntimePort<Platform>;
/** Runs that are being stored, and their tasks. */
export type Dispatch = port.Dispatch<Platform>;
/** A worker of such a runtime. */
export type RuntimeWorker = port.RuntimeWorker<Platform>;
/** Settles tasks with the runs, where the tasks lie beside them. */
export type Settling = port.Settling<Platform>;
