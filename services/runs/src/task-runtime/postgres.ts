import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { createPostgresWorker } from "./postgres-worker.ts";
import {
  deleteTasks,
  findTask,
  INSERT_TASKS_OF_ACCEPTED,
  insertTasks,
  wakeTasks,
} from "./postgres-queries.ts";
import { notify } from "../store/notify.ts";
import type { RuntimeWorker, TaskRuntime, TaskStatus, WorkerOptions } from "./port.ts";

/** What the embedded task runtime needs. */
export interface PostgresTaskRuntimeOptions {
  database: Database;
  /** Listens for the notifications of other processes; see `listen` of the db package. */
  listen: ListenToChannels;
  logger: Logger;
  /** How long a silent worker keeps its tasks, in milliseconds. */
  leaseMs?: number;
  /** The longest time between two looks for due tasks, in milliseconds. */
  pollMs?: number;
}

/** Subscribes to notification channels; `onReconnect` says that some may have been missed. */
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

const LEASE_MS = 10_000;
const POLL_MS = 1_000;

/**
 * The embedded task runtime: leased tasks in the `runs` schema. Measured as a sketch on two cores
 * against graphile-worker, pg-boss and DBOS; the figures are in docs/adr/0005-task-runtime.md.
 */
export function createPostgresTaskRuntime(options: PostgresTaskRuntimeOptions): TaskRuntime {
  const { database, logger } = options;
  const localWorkers = new Set<{ announce(count: number): void }>();
  let notifying = false;
  let notifyAgain = false;

  /** One notification at a time, after the commit: NOTIFY inside it would serialise all commits. */
  const notifyOthers = async (): Promise<void> => {
    if (notifying) {
      notifyAgain = true;
      return;
    }
    notifying = true;
    try {
      do {
        notifyAgain = false;
        await notify(database, TASKS_CHANNEL, "");
      } while (notifyAgain);
    } catch (error) {
      // Workers poll as well: a lost notification costs time, nothing else.
      logger.warn({ err: error }, "could not announce new tasks");
    } finally {
      notifying = false;
    }
  };

  return {
    name: "postgres",
    runtimeRunId: (runId) => runId.replace(/^run_/, "task_"),
    dispatch: insertTasks,
    dispatchCte: INSERT_TASKS_OF_ACCEPTED,
    dispatched(count) {
      if (localWorkers.size > 0) for (const worker of localWorkers) worker.announce(count);
      else void notifyOthers();
    },
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
      if (task.worker_id !== null) return "executing";
      return task.due ? "queued" : "parked";
    },
    async startWorker(workerOptions: WorkerOptions): Promise<RuntimeWorker> {
      const worker = createPostgresWorker({
        ...workerOptions,
        database,
        logger,
        leaseMs: options.leaseMs ?? LEASE_MS,
        pollMs: options.pollMs ?? POLL_MS,
      });
      const listening = options.listen({
        channels: [TASKS_CHANNEL, CANCELLED_CHANNEL, WOKEN_CHANNEL],
        onNotification: (channel, payload) => {
          if (channel === CANCELLED_CHANNEL) worker.abort(payload);
          else if (channel === WOKEN_CHANNEL) worker.woken(payload);
          else worker.look();
        },
        onReconnect: () => worker.look(),
      });
      const subscription = await listening.catch(async (error: unknown) => {
        await worker.stop();
        throw error;
      });
      localWorkers.add(worker);
      worker.look();
      return {
        settle: (transaction, settlements) => worker.settle(transaction, settlements),
        settleCte: (settlements) => worker.settleCte(settlements),
        settled: (settlements) => worker.settled(settlements),
        async stop() {
          localWorkers.delete(worker);
          await subscription.stop();
          await worker.stop();
          await notifyOthers();
        },
      };
    },
  };
}
