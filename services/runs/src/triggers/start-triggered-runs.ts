import { idTimestamp, newId } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { CompiledTrigger } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { TriggerType } from "../domain/run-status.ts";
import type { Deployment, DeploymentCache } from "../engine/deployment-cache.ts";
import { insertRuns } from "../store/start-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import { claimEvent, getStarted, listWaiting } from "../store/triggering-events.ts";
import type { StartedRuns } from "../store/triggering-events.ts";
import type { TaskRuntime } from "../task-runtime/port.ts";

/** Something that happened and that workflows may wait for. */
export interface TriggeringEvent {
  companyId: string;
  /** Unlike that of any other event of the company, wherever they come from. */
  id: string;
  /** What the workflows wait for (`triggerKeyOf`). */
  triggerKey: string;
  /** Whether it starts a run of a workflow with this trigger, given that the key fits. */
  fires: (trigger: CompiledTrigger) => boolean;
  triggerType: TriggerType;
  /** JSON text of an object: the input of the runs. */
  input: string;
  /** JSON text of an object: what templates see as `trigger`. */
  triggerData: string;
  /** The request that caused it; null when none did. */
  requestId: string | null;
  /** How many runs led to it by what they wrote. */
  depth: number;
}

/** What starting needs. */
export interface TriggerDependencies {
  database: Database;
  deployments: DeploymentCache;
  runtime: TaskRuntime;
}

/** An event is overtaken by changes of deployments at most so often before it has to come again. */
const OVERTAKEN_MAX = 5;

/**
 * Starts one run of each active workflow that waits for an event, all in one transaction. An event that
 * comes again starts nothing and is answered like the first time.
 *
 * @throws AppError UNAVAILABLE when workflows are being changed all the while
 */
export async function startTriggeredRuns(
  dependencies: TriggerDependencies,
  event: TriggeringEvent,
): Promise<StartedRuns> {
  for (let attempt = 0; attempt < OVERTAKEN_MAX; attempt++) {
    const runs = (await listFired(dependencies, event)).map((deployment) =>
      newRun(event, deployment, dependencies.runtime),
    );
    if (runs.length === 0) return [];
    const started = await store(dependencies, event, runs);
    if (started !== "overtaken") return started;
  }
  throw new AppError("UNAVAILABLE", "The workflows are being changed; try again.", {
    retryAfterMs: 1_000,
  });
}

async function listFired(
  { database, deployments }: TriggerDependencies,
  { companyId, triggerKey, fires }: TriggeringEvent,
): Promise<Deployment[]> {
  const waiting = await listWaiting(database, companyId, triggerKey);
  if (waiting.length === 0) return [];
  const loaded = await deployments.getMany(waiting.map((row) => row.deployment_id));
  return waiting.flatMap((row) => {
    const deployment = loaded.get(row.deployment_id);
    // One that this release cannot execute is logged where it was loaded.
    const trigger = deployment?.compiled?.definition.trigger;
    return deployment !== undefined && trigger !== undefined && fires(trigger) ? [deployment] : [];
  });
}

async function store(
  { database, runtime }: TriggerDependencies,
  { companyId, id: eventId }: TriggeringEvent,
  runs: readonly NewRun[],
): Promise<StartedRuns | "overtaken"> {
  const starting = runs.map(({ id, workflowId }) => ({ workflowId, runId: id }));
  try {
    const claimed = await database.transaction(async (transaction) => {
      if (!(await claimEvent(transaction, { companyId, eventId }, starting))) return false;
      const stored = await insertRuns(transaction, runs);
      // All or none: what is stored is the answer to the event, for ever.
      if (stored.size < runs.length) throw new OvertakenError();
      await runtime.dispatch(transaction, [...stored]);
      return true;
    });
    if (!claimed) return await getStarted(database, { companyId, eventId });
    runtime.dispatched(runs.length);
    return starting;
  } catch (error) {
    if (error instanceof OvertakenError) return "overtaken";
    throw error;
  }
}

/** A deployment was replaced or withdrawn since it was found. */
class OvertakenError extends Error {
  override readonly name = "OvertakenError";
}

function newRun(event: TriggeringEvent, deployment: Deployment, runtime: TaskRuntime): NewRun {
  const id = newId("run_");
  return {
    id,
    companyId: event.companyId,
    workflowId: deployment.workflowId,
    deploymentId: deployment.id,
    workflowVersion: deployment.version,
    triggerType: event.triggerType,
    triggerData: event.triggerData,
    triggerDepth: event.depth,
    input: event.input,
    connectionId: null,
    taskRuntimeRunId: runtime.runtimeRunId(id),
    awaited: false,
    requestId: event.requestId,
    createdAt: idTimestamp(id),
  };
}
