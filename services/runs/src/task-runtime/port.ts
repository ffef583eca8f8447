/*
 * Terms
 * - task: the runtime's unit of work; one per live run, under the run's id.
 * - lease: the right to execute a task for a while. It can be lost. What an execution writes is refused
 *   by the run itself once another has begun (`epoch` of the run's row), so a lease that was lost without
 *   a word does no harm.
 * - to stage a command: to record it in the transaction of the caller; it is obeyed after the commit, or
 *   never when there is none. There are three: start (`dispatch`), wake and cancel.
 * - wake: to make a parked task due at once.
 */

/**
 * What the store of a runtime lends to its callers. The port knows nothing of it: a runtime in another
 * store stages commands in the transaction of the caller and carries them out afterwards.
 */
export interface RuntimePlatform {
  /** The transaction of the caller. */
  transaction: unknown;
  /** A part of a statement; only where tasks lie beside the runs. */
  statementPart: unknown;
}

/** What a task is doing, as its runtime sees it. */
export type TaskStatus = "queued" | "executing" | "parked";

/** The right to execute one task. */
export interface Lease {
  readonly runId: string;
  /** Fencing token: of two leases of one task the later has the greater. The run's epoch. */
  readonly fence: number;
  /**
   * How many leases of this task ran out, since it last made progress, whose execution had begun (D30). A
   * worker executes one task at a time of which this is two or more, since that may be what the others
   * died of.
   */
  readonly takeovers: number;
  /** For how long the task had been due when the lease began, in milliseconds: nobody executed it. */
  readonly idleMs: number;
  /** Aborted when the lease is lost: taken over, cancelled, or, with `WorkerStopped`, the worker is stopping. */
  readonly signal: AbortSignal;
  /**
   * Set by whoever executes the task; called when the task is woken meanwhile. It may be missed: a
   * task that was woken is due again as soon as it is parked.
   */
  onWoken?: (() => void) | undefined;
  /** Whether due tasks wait for a slot of this worker, all of which are taken. */
  readonly isSlotWanted: () => boolean;
  /** Set by whoever executes the task; called when that becomes true, or the worker is to stop. */
  onSlotWanted?: (() => void) | undefined;
}

/** How far an execution came. */
export type Advance =
  /** The run has ended; the task is forgotten. */
  | { next: "done" }
  /**
   * The task rests for so long, or until it is woken when that is null. A task that was woken since its
   * lease began does not rest: that it was leased is its wake sequence.
   */
  | { next: "park"; forMs: number | null }
  /** Nothing came of it: the task is due again after a pause, which grows until it makes progress. */
  | { next: "release" }
  /** The worker had no room for it: the task is due again after a short pause that does not grow. */
  | { next: "unbegun" };

/** What becomes of a task when what was done so far is written. */
export type Settlement =
  /** The execution goes on under the same lease, and has made progress. */
  | { lease: Lease; next: "keep" }
  | ({ lease: Lease } & Exclude<Advance, { next: "release" | "unbegun" }>);

/** A run that is to be executed, and the company whose turn it takes (D57). */
export interface NewTask {
  runId: string;
  companyId: string;
  /** The workers that execute it (ADR 63); the default ones when it is left out. */
  pool?: string;
}

/** Tasks on their way into the runtime: staged with their runs, then told of. */
export interface Dispatch<Platform extends RuntimePlatform> {
  /**
   * Those that this process will execute itself as soon as it knows of the commit: nobody else claims
   * them meanwhile.
   */
  readonly handedOver: ReadonlySet<string>;
  /** The fence of the lease under which a run is stored; 0 when it is not handed over. */
  epochOf(runId: string): number;
  /** Stages tasks in the transaction that stores their runs: with its commit they will be executed. */
  write(transaction: Platform["transaction"], runIds: readonly string[]): Promise<void>;
  /**
   * What `write` does, as the body of a data-modifying CTE that reads the runs from
   * `accepted (id, company_id)`. Only a runtime has it whose tasks lie beside the runs: a run and its
   * task are then stored by one statement instead of a transaction of four.
   */
  readonly cte?: Platform["statementPart"];
  /** Says that these were committed, so that workers need not find out by polling. */
  committed(stored: ReadonlySet<string>): void;
  /** Says that nothing was committed, or that nobody knows. */
  abandoned(): void;
}

/**
 * Where runs are executed. The interpreter and the API know only this port; adapters are held to one
 * contract test suite (`tests/task-runtime-contract.ts`).
 */
export interface TaskRuntimePort<Platform extends RuntimePlatform> {
  readonly name: "postgres" | "memory" | "restate";

  /** The runtime's own id of a run, shown to callers as `triggerRuntimeRunId`. */
  runtimeRunId(runId: string): string;

  /** Begins to make runs known; one of `committed` and `abandoned` is to be called in the end. */
  dispatch(tasks: readonly NewTask[]): Dispatch<Platform>;

  /**
   * Stages that tasks are forgotten, in the transaction that ends their runs; leases on them are lost. To
   * be called before the run's row is touched, since workers lock in this order too.
   */
  cancel(transaction: Platform["transaction"], runIds: readonly string[]): Promise<void>;

  /** Stages that parked tasks become due, in the transaction that gives them a reason to go on. */
  wake(transaction: Platform["transaction"], runIds: readonly string[]): Promise<void>;

  /** What a task does at the moment; null when the runtime knows none under this id. */
  findStatus(runId: string): Promise<TaskStatus | null>;

  /** Begins to execute due tasks in this process. */
  startWorker(options: WorkerOptions): Promise<RuntimeWorker<Platform>>;
}

/** How a worker executes tasks. */
export interface WorkerOptions {
  /** How many tasks this worker executes at a time. */
  concurrency: number;
  /**
   * Executes a batch of tasks that were claimed together; never rejects. It calls `finished` once for
   * each and says how far it came. What it wrote may be known to the runtime before (`settling`); until
   * one of both has happened the task may be executed again, and finds then that all is done.
   */
  execute(leases: readonly Lease[], finished: Finished): void;
}

/** Says that the execution of a task is over, and how far it came. */
export type Finished = (lease: Lease, advance: Advance) => void;

/** A running worker. */
export interface RuntimeWorker<Platform extends RuntimePlatform> {
  /**
   * Says that executions begin: from now on the death of this worker counts as a take-over of them.
   * Returns the ids of the runs whose lease still holds; the others must not begin.
   */
  begin(leases: readonly Lease[]): Promise<ReadonlySet<string>>;
  /** Says that executions have made progress, so that earlier take-overs count no more. */
  progressed(leases: readonly Lease[]): Promise<void>;
  /** Only a runtime has it whose tasks lie beside the runs. */
  readonly settling?: Settling<Platform>;
  /** Stops claiming, aborts the leases held, waits for their executions and gives them back. */
  stop(): Promise<void>;
}

/**
 * Writes what becomes of tasks with what their executions write: one statement and one commit instead of
 * two, and no execution that is made again because only the first of them came about.
 */
export interface Settling<Platform extends RuntimePlatform> {
  /** What `begin` does, as CTEs of which the last is `begun (run_id)`. */
  beginCte(leases: readonly Lease[]): Platform["statementPart"];
  /**
   * Writes settlements in a transaction and returns the ids of the runs whose lease still holds. The
   * rows of their tasks stay locked until the commit.
   */
  settle(
    transaction: Platform["transaction"],
    settlements: readonly Settlement[],
  ): Promise<Set<string>>;
  /** The first half of what `settle` does: locks, as CTEs of which the last is `held (run_id, …)`. */
  heldCte(settlements: readonly Settlement[]): Platform["statementPart"];
  /** The second half: settles, of those held, the ones in the CTE `changed (run_id)`. */
  settleCte(): Platform["statementPart"];
  /** Says that settlements were committed, so that the worker can look for the next due task. */
  settled(settlements: readonly Settlement[]): void;
}
