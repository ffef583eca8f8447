import { isAppError } from "@workflow/errors";
import type { Logger } from "pino";
import { listDueKeys } from "../store/deployments.ts";
import type { WorkflowKey } from "../store/workflow-row.ts";
import { pushDeployment } from "./push-deployment.ts";
import type { PushDependencies } from "./push-deployment.ts";

/** The number of concurrent hand-overs. */
const BATCH_SIZE = 8;
const ATTEMPT_MS = 5_000;

/**
 * Sweeps once over all workflows whose hand-over is due: those that a killed process left behind,
 * those that requests gave up, and those that requests hand over right now. Several replicas may
 * sweep at once, because pushes are idempotent. A workflow that fails waits for the next sweep, or
 * for an hour when it was refused, and delays no other. When a whole batch fails, the execution
 * plane is assumed to be away and the sweep ends.
 */
export async function repairDeployments(
  dependencies: PushDependencies,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  let afterId: string | null = null;
  do {
    const batch = await listDueKeys(dependencies.database, afterId, BATCH_SIZE);
    const failures = await pushAll(dependencies, batch, signal);
    if (failures.length > 0 && !signal.aborted) {
      const counts = { failed: failures.length, attempted: batch.length };
      logger.warn({ err: failures[0], ...counts }, "deployments could not be handed over");
    }
    const isAway = failures.length === batch.length && failures.every(isUnavailable);
    if (batch.length < BATCH_SIZE || isAway) return;
    afterId = batch.at(-1)?.workflowId ?? null;
  } while (!signal.aborted);
}

/** Pushes all of them and returns the errors of those that failed. */
async function pushAll(
  dependencies: PushDependencies,
  keys: readonly WorkflowKey[],
  signal: AbortSignal,
): Promise<unknown[]> {
  const deadline = new Date(Date.now() + ATTEMPT_MS);
  const outcomes = await Promise.allSettled(
    keys.map((key) => pushDeployment(dependencies, key, { deadline, signal })),
  );
  return outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
}

/** A refusal, by contrast, concerns one workflow only. */
function isUnavailable(error: unknown): boolean {
  return isAppError(error) && error.reason === "UNAVAILABLE";
}
