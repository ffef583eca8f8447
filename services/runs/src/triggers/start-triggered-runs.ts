import type { CompiledTrigger } from "@workflow/definition";
import type { Deployment, DeploymentCache } from "../deployments/deployment-cache.ts";
import type { TriggerType } from "../domain/run-status.ts";
import type { Backlog } from "../starting/backlog.ts";
import { newRun } from "../starting/new-run.ts";
import { startInTransaction } from "../starting/start-in-transaction.ts";
import type { StoringContext } from "../starting/start-in-transaction.ts";
import { OvertakenError, untilStored } from "../starting/until-stored.ts";
import { growFamily } from "../store/run-families.ts";
import type { NewRun } from "../store/start-runs.ts";
import { claimEvent, getStarted, listWaiting } from "../store/triggering-events.ts";
import type { Cause, StartedRuns } from "../store/triggering-events.ts";

/** Something that happened and that workflows may wait for. */
export interface TriggeringEvent {
  companyId: string;
  /** Unique among the company's events, whatever their source. */
  id: string;
  /** The key that workflows wait for (`triggerKeyOf`). */
  triggerKey: string;
  /** Whether it starts a run of a workflow with this trigger, given that the key matches. */
  fires: (trigger: CompiledTrigger) => boolean;
  triggerType: TriggerType;
  /** JSON text of an object: the input of the runs. */
  input: string;
  /** JSON text of an object: what templates see as `trigger`. */
  triggerData: string;
  /** The request that caused it; null when none did. */
  requestId: string | null;
  /** The traceparent of its span; null when that is not recorded. */
  traceparent: string | null;
  /** The run that has caused it; null when none did. */
  cause: Cause | null;
}

/** The dependencies of starting. */
export interface TriggerDependencies extends StoringContext {
  deployments: DeploymentCache;
  backlog: Backlog;
  /** How many runs may descend from one (D60). */
  descendantsMax: number;
}

/**
 * Starts one run of each active workflow that waits for an event, all in one transaction. An event that
 * comes again starts nothing and gets the first answer again.
 *
 * @throws AppError RATE_LIMITED when the company has too many pending runs, UNAVAILABLE when workflows
 * are changed all the time
 */
export async function startTriggeredRuns(
  dependencies: TriggerDependencies,
  event: TriggeringEvent,
): Promise<StartedRuns> {
  const { cause } = event;
  return untilStored(async () => {
    const fired = await listFired(dependencies, event);
    if (fired.length === 0) return [];
    await dependencies.backlog.admit(event.companyId, fired.length);
    const runs = fired.map((deployment) =>
      newRun(dependencies.runtime, deployment, {
        triggerType: event.triggerType,
        triggerData: event.triggerData,
        triggerDepth: cause === null ? 0 : cause.triggerDepth + 1,
        rootRunId: cause?.rootRunId ?? null,
        input: event.input,
        requestId: event.requestId,
        traceparent: event.traceparent,
      }),
    );
    return store(dependencies, event, runs);
  });
}

async function listFired(
  { database, deployments }: TriggerDependencies,
  { companyId, triggerKey, fires }: TriggeringEvent,
): Promise<Deployment[]> {
  const waiting = await listWaiting(database, companyId, triggerKey);
  if (waiting.length === 0) return [];
  const loaded = await deployments.getMany(waiting.map((row) => row.deploymentId));
  return waiting.flatMap((row) => {
    const deployment = loaded.get(row.deploymentId);
    // A deployment that this release cannot execute was logged when it was loaded.
    const trigger = deployment?.compiled?.definition.trigger;
    return deployment !== undefined && trigger !== undefined && fires(trigger) ? [deployment] : [];
  });
}

async function store(
  dependencies: TriggerDependencies,
  { companyId, id: eventId, cause }: TriggeringEvent,
  runs: readonly NewRun[],
): Promise<StartedRuns> {
  const { descendantsMax: max } = dependencies;
  const started = runs.map(({ id, workflowId }) => ({ workflowId, runId: id }));
  const claimed = await startInTransaction(dependencies, async (transaction, starting) => {
    if (!(await claimEvent(transaction, { companyId, eventId }, started))) return false;
    const hasRoom =
      cause === null ||
      (await growFamily(transaction, {
        rootRunId: cause.rootRunId,
        companyId,
        by: runs.length,
        max,
      }));
    // No caller is there to be told, so the runs fail where everybody can see it.
    const stored = await starting.insert(hasRoom ? runs : runs.map(withoutRoom));
    // The stored runs are the answer to the event for ever, so all are stored or none.
    if (stored.size < runs.length) throw new OvertakenError();
    return true;
  });
  return claimed ? started : getStarted(dependencies.database, { companyId, eventId });
}

function withoutRoom(run: NewRun): NewRun {
  return { ...run, startFault: "RUN_TOO_MANY_CHILDREN" };
}
