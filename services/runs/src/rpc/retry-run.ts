import { isId } from "@workflow/db";
import type { RestartedRun, RetryRunRequest } from "@workflow/proto/runs/v1/runs";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { retryRun as retry } from "../operations/repeat-run.ts";
import type { RepeatedRun } from "../operations/repeat-run.ts";
import { runNotFound } from "./read-run.ts";
import { toRunSummary } from "./run-message.ts";

/** Starts a run that goes on where another one failed. */
export function retryRun(context: ServiceContext): UnaryMethod<RetryRunRequest, RestartedRun> {
  return rpc({
    scopes: "workflows:execute",
    handler: async ({ runId }, rpcContext) =>
      toRestartedMessage(runId, await retryOne(context, runId, rpcContext)),
  });
}

/**
 * Retries one run of the caller's company.
 *
 * @throws AppError NOT_FOUND, INVALID_STATE
 */
export async function retryOne(
  context: ServiceContext,
  runId: string,
  caller: RpcContext,
): Promise<RepeatedRun> {
  if (!isId("run_", runId)) throw runNotFound();
  return retry(context, caller, runId);
}

/** The answer to a retry or restart. */
export function toRestartedMessage(
  originalRunId: string,
  { run, taskRuntimeRunId, fromStepId }: RepeatedRun,
): RestartedRun {
  return {
    run: { ...toRunSummary(run), taskRuntimeRunId },
    originalRunId,
    restartFromStepId: fromStepId,
  };
}
