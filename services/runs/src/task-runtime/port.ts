import type { SqlFragment, Transaction } from "@workflow/db";

/*
 * Terms
 * - task: the runtime's unit of work; one per live run, under the run's id.
 * - lease: the right to execute a task for a while. It can be lost; whoever holds a lost lease finds
 *   its writes refused.
 * - settle: to write down, in the transaction that stores what was done, what becomes of the task.
 * - wake: to make a parked task due at once.
 */

/** What a task is doing, as its runtime sees it. */
export type TaskStatus = "queued" | "executing" | "parked";

/** The right to execute one task. */
export interface Lease {
  readonly runId: string;
  /** Fencing token: of two leases of one task the later has the greater. */
  readonly fence: number;
  /** How many leases of this task ran out since it last made progress (D30). */
  readonly takeovers: number;
  /** Aborted when the lease is lost: taken over, cancelled, or the worker is stopping. */
  readonly signal: AbortSignal;
  /**
   * Set by whoever executes the task; called when the task is woken meanwhile. It may be missed: a
   * task that was woken is due again as soon as it is parked.
   */
  onWoken?: (() => void) | undefined;
}

/** What becomes of a task when what was done so far is written. */
export type Settlement =
  /** The execution goes on under the same lease. */
  | { lease: Lease; next: "keep" }
  /** The run has ended; the task is forgotten. */
  | { lease: Lease; next: "done" }
  /** The task rests until `wakeAt`, or until it is woken when that is null. */
  | { lease: Lease; next: "park"; wakeAt: Date | null };

/**
 * Where runs are executed. The interpreter and the API know only this port; adapters are held to one
 * contract test suite (`tests/task-runtime-contract.ts`).
 */
export interface TaskRuntime {
  readonly name: "postgres" | "restate";

  /** The runtime's own id of a run, shown to callers as `triggerRuntimeRunId`. */
  runtimeRunId(runId: string): string;

  /** Makes runs known, in the transaction that stores them: with its commit they will be executed. */
  dispatch(transaction: Transaction, runIds: readonly string[]): Promise<void>;

  /**
   * What `dispatch` does, as the body of a data-modifying CTE that reads the run ids from
   * `accepted (id)`. Only a runtime has it whose tasks lie in the same database; a run and its task
   * are then stored by one statement instead of a transaction of four.
   */
  readonly dispatchCte?: SqlFragment;

  /**
   * Says that a dispatch of so many runs was committed, so that workers need not find out by
   * polling. Many at once are the sign of a rush: a worker in the same process then gives way to
   * accepting, within bounds.
   */
  dispatched(count: number): void;

  /**
   * Forgets tasks, in the transaction that ends their runs; leases on them are lost. To be called
   * before the run's row is touched, since workers lock in this order too.
   */
  cancel(transaction: Transaction, runIds: readonly string[]): Promise<void>;

  /** Makes parked tasks due, in the transaction that gives them a reason to go on. */
  wake(transaction: Transaction, runIds: readonly string[]): Promise<void>;

  /** What a task does at the moment; null when the runtime knows none under this id. */
  findStatus(runId: string): Promise<TaskStatus | null>;

  /** Begins to execute due tasks in this process. */
  startWorker(options: WorkerOptions): Promise<RuntimeWorker>;
}

/** How a worker executes tasks. */
export interface WorkerOptions {
  /** How many tasks this worker executes at a time. */
  concurrency: number;
  /**
   * Executes a batch of tasks that were claimed together. It settles each itself and never rejects;
   * when it calls `finished` for a task without a settlement of `done` or `park`, the task is
   * released and becomes due again after a short pause.
   */
  execute(leases: readonly Lease[], finished: (lease: Lease) => void): void;
}

/** A running worker. */
export interface RuntimeWorker {
  /**
   * Writes settlements in a transaction and returns the ids of the runs whose lease still holds;
   * nothing may be written for the others. The rows of their tasks stay locked until the commit.
   */
  settle(transaction: Transaction, settlements: readonly Settlement[]): Promise<Set<string>>;
  /**
   * What `settle` does, as CTEs of which the last is `settled (run_id)`. Only a runtime has it whose
   * tasks lie in the same database; what was done is then written by the statement that settles.
   */
  settleCte?(settlements: readonly Settlement[]): SqlFragment;
  /** Says that settlements were committed, so that the worker can look for the next due task. */
  settled(settlements: readonly Settlement[]): void;
  /** Stops claiming, aborts the leases held, waits for their executions and gives them back. */
  stop(): Promise<void>;
}
