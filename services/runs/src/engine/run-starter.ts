import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { Database } from "@workflow/db";
import { idTimestamp, newId } from "@workflow/db";
import { LRUCache } from "lru-cache";
import type { TriggerType } from "../domain/run-status.ts";
import { findHead } from "../store/deployments.ts";
import { claimKey, findKeyedRun, insertRuns } from "../store/start-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { TaskRuntime } from "../task-runtime/port.ts";
import type { Deployment, DeploymentCache } from "./deployment-cache.ts";

/** What to start. */
export interface StartCommand {
  companyId: string;
  workflowId: string;
  triggerType: TriggerType;
  /** JSON text of an object. */
  input: string;
  /** The same, parsed. */
  inputValue: unknown;
  connectionId: string | null;
  idempotencyKey: string | null;
  /** The request that causes the run. */
  requestId: string;
  /** Whether the caller will wait for the run's end. */
  awaited: boolean;
}

/** The run that was started, or the earlier one that the idempotency key names. */
export type StartedRun =
  { existing: false; run: NewRun; deployment: Deployment } | { existing: true; runId: string };

interface Waiting {
  run: NewRun;
  resolve: (stored: boolean) => void;
  reject: (error: unknown) => void;
}

const BATCH_MAX = 200;
/** Two transactions at a time: one gathers and sends while the other waits for its commit. */
const TRANSACTIONS_MAX = 2;
/** A start is overtaken by a change of the deployment at most so often before it gives up. */
const OVERTAKEN_MAX = 5;

/** Accepts runs; see `createRunStarter`. */
export type RunStarter = ReturnType<typeof createRunStarter>;

/** Accepts runs: once `start` resolves, the run and its task are committed. */
export function createRunStarter(options: {
  database: Database;
  deployments: DeploymentCache;
  runtime: TaskRuntime;
}) {
  const { database, deployments, runtime } = options;
  /** Where a workflow stood last; checked again by the statement that inserts the run. */
  const heads = new LRUCache<string, { companyId: string; deploymentId: string }>({ max: 10_000 });
  let waiting: Waiting[] = [];
  let transactions = 0;

  const cachedDeployment = (companyId: string, workflowId: string): Deployment | null => {
    const cached = heads.get(workflowId);
    if (cached?.companyId !== companyId) return null;
    return deployments.peek(cached.deploymentId) ?? null;
  };

  const activeDeployment = async (companyId: string, workflowId: string): Promise<Deployment> => {
    const head = await findHead(database, companyId, workflowId);
    if (head === null) throw new AppError("NOT_FOUND", "Workflow not found");
    if (head.status !== "active" || head.deployment_id === null) {
      throw new AppError("WORKFLOW_NOT_ACTIVE", `The workflow is ${head.status}, not active.`, {
        details: { currentStatus: head.status },
      });
    }
    const loaded = await deployments.getMany([head.deployment_id]);
    const deployment = loaded.get(head.deployment_id);
    if (deployment === undefined) throw new Error("a deployment head names no deployment");
    heads.set(workflowId, { companyId, deploymentId: deployment.id });
    return deployment;
  };

  /** An input is refused by the newest deployment only; the one in memory may be older. */
  const acceptingDeployment = async (command: StartCommand): Promise<Deployment> => {
    const { companyId, workflowId, inputValue } = command;
    const cached = cachedDeployment(companyId, workflowId);
    if (cached !== null && violationsOf(cached, inputValue).length === 0) return cached;
    const deployment = await activeDeployment(companyId, workflowId);
    const violations = violationsOf(deployment, inputValue);
    if (violations.length === 0) return deployment;
    throw new AppError("VALIDATION_ERROR", "The input does not fit the workflow's inputSchema.", {
      violations,
    });
  };

  const insertAndDispatch = (runs: readonly NewRun[]): Promise<Set<string>> => {
    const { dispatchCte } = runtime;
    if (dispatchCte !== undefined) return insertRuns(database, runs, dispatchCte);
    return database.transaction(async (transaction) => {
      const ids = await insertRuns(transaction, runs);
      if (ids.size > 0) await runtime.dispatch(transaction, [...ids]);
      return ids;
    });
  };

  const storeBatch = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const stored = await insertAndDispatch(batch.map((item) => item.run));
      if (stored.size > 0) runtime.dispatched(stored.size);
      for (const item of batch) item.resolve(stored.has(item.run.id));
    } catch (error) {
      for (const item of batch) item.reject(error);
    }
  };

  const pump = (): void => {
    while (transactions < TRANSACTIONS_MAX && waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      transactions += 1;
      void storeBatch(batch).finally(() => {
        transactions -= 1;
        pump();
      });
    }
  };

  const store = (run: NewRun): Promise<boolean> =>
    new Promise((resolve, reject) => {
      waiting.push({ run, resolve, reject });
      // In the next turn, so that requests that arrive together share a commit.
      if (waiting.length === 1) setImmediate(pump);
    });

  const storeKeyed = async (run: NewRun, key: string): Promise<boolean | "taken"> => {
    const outcome = await database.transaction(async (transaction) => {
      const claimed = await claimKey(
        transaction,
        { companyId: run.companyId, workflowId: run.workflowId, key },
        run.id,
      );
      if (!claimed) return "taken" as const;
      const ids = await insertRuns(transaction, [run]);
      if (ids.size === 0) throw new OvertakenError();
      await runtime.dispatch(transaction, [run.id]);
      return true;
    });
    if (outcome === true) runtime.dispatched(1);
    return outcome;
  };

  return {
    /** @throws AppError NOT_FOUND, WORKFLOW_NOT_ACTIVE, VALIDATION_ERROR */
    async start(command: StartCommand): Promise<StartedRun> {
      const { companyId, workflowId, idempotencyKey } = command;
      for (let attempt = 0; attempt < OVERTAKEN_MAX; attempt++) {
        if (idempotencyKey !== null) {
          const runId = await findKeyedRun(database, {
            companyId,
            workflowId,
            key: idempotencyKey,
          });
          if (runId !== null) return { existing: true, runId };
        }
        const deployment = await acceptingDeployment(command);
        const run = newRun(command, deployment, runtime);
        const stored =
          idempotencyKey === null
            ? await store(run)
            : await storeKeyed(run, idempotencyKey).catch((error: unknown) => {
                if (error instanceof OvertakenError) return false;
                throw error;
              });
        if (stored === true) return { existing: false, run, deployment };
        if (stored === false) heads.delete(workflowId);
      }
      throw new AppError("UNAVAILABLE", "The workflow is being changed; try again.", {
        retryAfterMs: 1_000,
      });
    },
  };
}

class OvertakenError extends Error {
  override readonly name = "OvertakenError";
}

function violationsOf({ compiled }: Deployment, input: unknown): readonly Violation[] {
  if (compiled === null) throw new Error("the deployment does not compile");
  return compiled.inputSchema?.validate(input) ?? [];
}

function newRun(command: StartCommand, deployment: Deployment, runtime: TaskRuntime): NewRun {
  const id = newId("run_");
  return {
    id,
    companyId: command.companyId,
    workflowId: command.workflowId,
    deploymentId: deployment.id,
    workflowVersion: deployment.version,
    triggerType: command.triggerType,
    input: command.input,
    connectionId: command.connectionId,
    taskRuntimeRunId: runtime.runtimeRunId(id),
    awaited: command.awaited,
    requestId: command.requestId,
    // The id's own moment, so that the order of ids is the order of createdAt.
    createdAt: idTimestamp(id),
  };
}
