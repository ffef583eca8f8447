import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { DEFAULT_POOL } from "../domain/worker-pool.ts";
import { notify } from "../store/notify.ts";
import type { WorkerObserver } from "./worker-observer.ts";
import type { NewTask, TaskStatus, WorkerOptions } from "./port.ts";
import {
  deleteTasks,
  findTask,
  insertTasks,
  insertTasksCte,
  wakeTasks,
} from "./postgres-queries.ts";
import { FIRST_FENCE, PostgresWorker } from "./postgres-worker.ts";
import type { Reservation } from "./postgres-worker.ts";
import type { Dispatch, RuntimeWorker, TaskRuntime } from "./runtime.ts";

/** The dependencies of the embedded task runtime. */
export interface PostgresTaskRuntimeOptions {
  database: Database;
  /** The database for claims and leases. */
  workerDatabase: Database;
  /** Listens for the notifications of other processes; see `listen` of the db package. */
  listen: ListenToChannels;
  logger: Logger;
  /** The pool whose tasks the workers of this process claim; the default pool if left out. */
  pool?: string | undefined;
  /** How long a silent worker keeps its tasks, in milliseconds. */
  leaseMs?: number;
  /** The longest time between two polls for due tasks, in milliseconds. */
  pollMs?: number;
  /** Notified of what workers do. */
  observer?: WorkerObserver | undefined;
}

/** Subscribes to notification channels; `onReconnect` is called when some may have been missed. */
export type ListenToChannels = (options: {
  channels: readonly string[];
  onNotification: (channel: string, payload: string) => void;
  onReconnect: () => void;
}) => Promise<{ stop(): Promise<void> }>;

/** New tasks are due. */
const TASKS_CHANNEL = "runs_tasks";
/** The task named by the payload was woken while it is executed. */
const WOKEN_CHANNEL = "runs_woken";
/** The task named by the payload was cancelled. */
const CANCELLED_CHANNEL = "runs_cancelled";

const NO_RUNS: ReadonlySet<string> = new Set();
const LEASE_MS = 10_000;
const POLL_MS = 1_000;

/**
 * The embedded task runtime: leased tasks in the `runs` schema. ADR 5 compares it with graphile-worker,
 * pg-boss and DBOS, and has the measurements.
 */
export function createPostgresTaskRuntime(options: PostgresTaskRuntimeOptions): TaskRuntime {
  const { database, logger } = options;
  const leaseMs = options.leaseMs ?? LEASE_MS;
  const pool = options.pool ?? DEFAULT_POOL;
  const localWorkers = new Set<PostgresWorker>();
  const others = new OtherProcesses(database, logger);

  const announce = (): void => {
    for (const worker of localWorkers) worker.announce();
    void others.announce();
  };

  return {
    name: "postgres",
    runtimeRunId: (runId) => runId.replace(/^run_/, "task_"),
    dispatch: (tasks) => openDispatch(tasks, { workers: localWorkers, pool, leaseMs, announce }),
    async cancel(transaction, runIds) {
      await deleteTasks(transaction, runIds);
      for (const runId of runIds) await notify(transaction, CANCELLED_CHANNEL, runId);
    },
    async wake(transaction, runIds) {
      const leased = await wakeTasks(transaction, runIds);
      await notify(transaction, TASKS_CHANNEL, "");
      for (const runId of leased) await notify(transaction, WOKEN_CHANNEL, runId);
    },
    async findStatus(runId): Promise<TaskStatus | null> {
      const task = await findTask(database, runId);
      if (task === null) return null;
      if (task.workerId !== null) return "executing";
      return task.due ? "queued" : "parked";
    },
    async startWorker(workerOptions): Promise<RuntimeWorker> {
      const worker = createWorker(options, workerOptions);
      const subscription = await listenFor(worker, options.listen);
      localWorkers.add(worker);
      worker.announce();
      return {
        begin: (leases) => worker.begin(leases),
        progressed: (leases) => worker.progressed(leases),
        settling: worker.settling,
        async stop() {
          localWorkers.delete(worker);
          await subscription.stop();
          await worker.stop();
          await others.announce();
        },
      };
    },
  };
}

/** What this process may do with tasks that it stores. */
interface LocalExecution {
  workers: Iterable<PostgresWorker>;
  /** The pool of the workers. */
  pool: string;
  leaseMs: number;
  /** Tells all workers of new tasks. */
  announce: () => void;
}

/** A worker of this process takes the tasks of its pool over when it has room for all of them. */
function openDispatch(
  tasks: readonly NewTask[],
  { workers, pool, leaseMs, announce }: LocalExecution,
): Dispatch {
  const own = tasks.filter((task) => (task.pool ?? DEFAULT_POOL) === pool);
  const reservation = reserve(workers, own);
  const runIds = reservation?.runIds ?? NO_RUNS;
  const pools = poolsOf(tasks);
  const lease = { workerId: reservation?.workerId ?? null, runIds, leaseMs, pools };
  const companies = new Map(tasks.map(({ runId, companyId }) => [runId, companyId]));
  return {
    handedOver: runIds,
    epochOf: (runId) => (runIds.has(runId) ? FIRST_FENCE : 0),
    cte: insertTasksCte(lease),
    async write(transaction, stored) {
      const chosen = stored.map((runId) => ({ runId, companyId: companies.get(runId) ?? "" }));
      await insertTasks(transaction, chosen, lease);
    },
    committed(stored) {
      reservation?.begin(stored);
      if (![...stored].every((runId) => runIds.has(runId))) announce();
    },
    abandoned: () => reservation?.cancel(),
  };
}

/** A slot of the first local worker that has room for all of these tasks; null when none has. */
function reserve(workers: Iterable<PostgresWorker>, tasks: readonly NewTask[]): Reservation | null {
  if (tasks.length === 0) return null;
  for (const worker of workers) {
    const reservation = worker.reserve(tasks);
    if (reservation !== null) return reservation;
  }
  return null;
}

function createWorker(
  options: PostgresTaskRuntimeOptions,
  workerOptions: WorkerOptions,
): PostgresWorker {
  return new PostgresWorker({
    ...workerOptions,
    database: options.workerDatabase,
    logger: options.logger,
    pool: options.pool ?? DEFAULT_POOL,
    leaseMs: options.leaseMs ?? LEASE_MS,
    pollMs: options.pollMs ?? POLL_MS,
    observer: options.observer,
  });
}

/** Tells a worker what other processes have done with tasks; stops it when that cannot be heard. */
async function listenFor(
  worker: PostgresWorker,
  listen: PostgresTaskRuntimeOptions["listen"],
): ReturnType<PostgresTaskRuntimeOptions["listen"]> {
  const listening = listen({
    channels: [TASKS_CHANNEL, CANCELLED_CHANNEL, WOKEN_CHANNEL],
    onNotification: (channel, payload) => {
      if (channel === CANCELLED_CHANNEL) worker.abort(payload);
      else if (channel === WOKEN_CHANNEL) worker.woken(payload);
      else worker.announce();
    },
    onReconnect: () => worker.announce(),
  });
  return listening.catch(async (error: unknown) => {
    await worker.stop();
    throw error;
  });
}

/**
 * Announces new tasks to the workers of other processes. It sends one notification at a time, after the
 * commit: NOTIFY inside it would serialise all commits.
 */
class OtherProcesses {
  readonly #database: Database;
  readonly #logger: Logger;
  #isNotifying = false;
  #notifiesAgain = false;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** Never rejects. */
  async announce(): Promise<void> {
    if (this.#isNotifying) {
      this.#notifiesAgain = true;
      return;
    }
    this.#isNotifying = true;
    try {
      do {
        this.#notifiesAgain = false;
        await notify(this.#database, TASKS_CHANNEL, "");
      } while (this.#notifiesAgain);
    } catch (error) {
      // Workers poll as well: a lost notification only costs time.
      this.#logger.warn({ err: error }, "could not announce new tasks");
    } finally {
      this.#isNotifying = false;
    }
  }
}

const NO_POOLS: ReadonlyMap<string, string> = new Map();

/** Only tasks that are not in the default pool; usually there are none. */
function poolsOf(tasks: readonly NewTask[]): ReadonlyMap<string, string> {
  const pooled = tasks.filter(({ pool = DEFAULT_POOL }) => pool !== DEFAULT_POOL);
  if (pooled.length === 0) return NO_POOLS;
  return new Map(pooled.map(({ runId, pool = DEFAULT_POOL }) => [runId, pool]));
}
