/*
 * Terms
 * - task: the runtime's unit of work; one per live run, under the run's id.
 * - lease: the right to execute a task for a while. It can be lost. Once another execution has begun
 * (`epoch` of the run's row), the run refuses the writes of this one. So a lease that is lost unnoticed
 * does no harm.
 * - to stage a command: to record it in the caller's transaction. It is carried out after the commit, or
 * never if there is none. There are three commands: start (`dispatch`), wake and cancel.
 * - wake: to make a parked task due at once.
 */

/**
 * The types of a runtime's store that its callers use. The port does not depend on them: a runtime in
 * another store stages commands in the caller's transaction and carries them out afterwards.
 */
export interface RuntimePlatform {
  /** The caller's transaction. */
  transaction: unknown;
  /** A part of a statement, only where tasks lie beside the runs. */
  statementPart: unknown;
}

/** What a task is doing, as its runtime sees it. */
export type TaskStatus = "queued" | "executing" | "parked";

/** The right to execute one task. */
export interface Lease {
  readonly runId: string;
  /** Fencing token: the later of two leases of a task has the greater one. It is the run's epoch. */
  readonly fence: number;
  /**
   * How many leases of this task whose execution had begun ran out since it last made progress (D30). A
   * worker executes only one task at a time with two or more, since its workers may have died of it.
   */
  readonly takeovers: number;
  /**
   * How long the task had been due when the lease began, in milliseconds. Nobody executed it in that
   * time.
   */
  readonly idleMs: number;
  /**
   * Aborted when the lease is lost: taken over, cancelled, or, with `WorkerStopped`, because the worker
   * stops.
   */
  readonly signal: AbortSignal;
  /**
   * Set by the execution; called when the task is woken meanwhile. The call may be missed: a task that
   * was woken is due again as soon as it is parked.
   */
  onWoken?: (() => void) | undefined;
  /** Whether due tasks wait for a slot of this worker, all of which are taken. */
  readonly isSlotWanted: () => boolean;
  /** Set by the execution; called when that becomes true, or the worker is to stop. */
  onSlotWanted?: (() => void) | undefined;
}

/** How far an execution came. */
export type Advance =
  /** The run has ended; the task is deleted. */
  | { next: "done" }
  /**
   * The task rests for `forMs`, or until it is woken when that is null. A task that was woken since its
   * lease began does not rest.
   */
  | { next: "park"; forMs: number | null }
  /**
   * The execution came to nothing: the task is due again after a pause, which grows until it makes
   * progress.
   */
  | { next: "release" }
  /** The worker had no memory for it: the task is due again after a short pause that does not grow. */
  | { next: "unbegun" };

/** The state that a task gets when the results so far are written. */
export type Settlement =
  /** The execution goes on under the same lease, and has made progress. */
  | { lease: Lease; next: "keep" }
  | ({ lease: Lease } & Exclude<Advance, { next: "release" | "unbegun" }>);

/** A run that is to be executed, and the company whose turn it takes (D57). */
export interface NewTask {
  runId: string;
  companyId: string;
  /** The pool of workers that execute it (ADR 63); the default pool if left out. */
  pool?: string;
}

/** Tasks that are being stored: staged with their runs, then announced. */
export interface Dispatch<Platform extends RuntimePlatform> {
  /**
   * Tasks that this process will execute itself as soon as it knows of the commit. Nobody else claims
   * them meanwhile.
   */
  readonly handedOver: ReadonlySet<string>;
  /** The fence of the lease under which a run is stored; 0 when it is not handed over. */
  epochOf(runId: string): number;
  /** Stages tasks in the transaction that stores their runs. With its commit they will be executed. */
  write(transaction: Platform["transaction"], runIds: readonly string[]): Promise<void>;
  /**
   * The same as `write`, as the body of a data-modifying CTE that reads the runs from `accepted (id,
   * company_id)`. Only a runtime whose tasks lie beside the runs has it. A run and its task are then
   * stored by one statement instead of a transaction of four.
   */
  readonly cte?: Platform["statementPart"];
  /** Announces that these were committed, so that workers need not find out by polling. */
  committed(stored: ReadonlySet<string>): void;
  /** Reports that nothing was committed, or that nobody knows. */
  abandoned(): void;
}

/**
 * The runtime that executes runs. The interpreter and the API use only this port. All adapters must pass
 * one contract test suite (`tests/task-runtime-contract.ts`).
 */
export interface TaskRuntimePort<Platform extends RuntimePlatform> {
  readonly name: "postgres" | "memory" | "restate";

  /** The runtime's own id of a run, shown to callers as `triggerRuntimeRunId`. */
  runtimeRunId(runId: string): string;

  /** Begins to dispatch runs. Either `committed` or `abandoned` must be called in the end. */
  dispatch(tasks: readonly NewTask[]): Dispatch<Platform>;

  /**
   * Stages the deletion of tasks in the transaction that ends their runs; leases on them are lost. It
   * must be called before the run's row is touched, since workers lock in this order, too.
   */
  cancel(transaction: Platform["transaction"], runIds: readonly string[]): Promise<void>;

  /** Stages that parked tasks become due, in the transaction that gives them a reason to go on. */
  wake(transaction: Platform["transaction"], runIds: readonly string[]): Promise<void>;

  /** The present status of a task; null when the runtime has none under this id. */
  findStatus(runId: string): Promise<TaskStatus | null>;

  /** Begins to execute due tasks in this process. */
  startWorker(options: WorkerOptions): Promise<RuntimeWorker<Platform>>;
}

/** The options of a worker. */
export interface WorkerOptions {
  /** How many tasks this worker executes at a time. */
  concurrency: number;
  /**
   * Executes a batch of tasks that were claimed together; never rejects. It calls `finished` once for
   * each and says how far it came. The runtime may learn of what was written before (`settling`). Until
   * one of both has happened the task may be executed again, which then finds everything done.
   */
  execute(leases: readonly Lease[], finished: Finished): void;
}

/** Reports that the execution of a task is over, and how far it came. */
export type Finished = (lease: Lease, advance: Advance) => void;

/** A running worker. */
export interface RuntimeWorker<Platform extends RuntimePlatform> {
  /**
   * Reports that executions begin: from now on the death of this worker counts as a take-over of them.
   * Returns the ids of the runs whose lease still holds; the others must not begin.
   */
  begin(leases: readonly Lease[]): Promise<ReadonlySet<string>>;
  /** Reports that executions have made progress, so that earlier take-overs no longer count. */
  progressed(leases: readonly Lease[]): Promise<void>;
  /** Only a runtime whose tasks lie beside the runs has it. */
  readonly settling?: Settling<Platform>;
  /** Stops claiming, aborts the leases held, waits for their executions and gives them back. */
  stop(): Promise<void>;
}

/**
 * Settles tasks together with the results of their executions. That is one statement and one commit
 * instead of two, and no execution is repeated because only the first of them was committed.
 */
export interface Settling<Platform extends RuntimePlatform> {
  /** The same as `begin`, as CTEs of which the last is `begun (run_id)`. */
  beginCte(leases: readonly Lease[]): Platform["statementPart"];
  /**
   * Writes settlements in a transaction and returns the ids of the runs whose lease still holds. The rows
   * of their tasks stay locked until the commit.
   */
  settle(
    transaction: Platform["transaction"],
    settlements: readonly Settlement[],
  ): Promise<Set<string>>;
  /** The first half of `settle`: locks, as CTEs of which the last is `held (run_id, …)`. */
  heldCte(settlements: readonly Settlement[]): Platform["statementPart"];
  /** The second half: settles those of the held tasks that are in the CTE `changed (run_id)`. */
  settleCte(): Platform["statementPart"];
  /** Reports that settlements were committed, so that the worker can look for the next due task. */
  settled(settlements: readonly Settlement[]): void;
}
