import { changesBetween } from "@workflow/audit";
import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { CancelRunRequest } from "@workflow/proto/runs/v1/runs";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { cancelWaitedChildren } from "../operations/cancel-children.ts";
import { cancelRuns } from "../operations/cancel-runs.ts";
import { findRun, findSummary, hasRun } from "../store/read-runs.ts";
import { runNotFound } from "./read-run.ts";
import { toRunMessage } from "./run-message.ts";

/** Ends a run that has not ended, and the runs that it waits for. */
export function cancelRun(context: ServiceContext): UnaryMethod<CancelRunRequest, Run> {
  return rpc({
    scopes: "workflows:execute",
    async handler({ runId }, rpcContext) {
      await cancelOne(context, runId, rpcContext);
      const run = await findRun(context.database, rpcContext.identity.companyId, runId);
      if (run === null) throw runNotFound();
      // A cancelled run has no output, and its input has at most 1 MiB.
      return toRunMessage(run);
    },
  });
}

/**
 * Cancels one run of the caller's company. Neither its input nor its results are read for that.
 *
 * @throws AppError NOT_FOUND, INVALID_STATE
 */
export async function cancelOne(
  context: ServiceContext,
  runId: string,
  caller: RpcContext,
): Promise<void> {
  const { database, audit } = context;
  const { requestId, log } = caller;
  const { companyId } = caller.identity;
  // `cancelRuns` itself does not check the company.
  const exists = isId("run_", runId) && (await hasRun(database, companyId, runId));
  if (!exists) throw runNotFound();
  const cancelled = await cancelRuns(context, [runId], requestId, (transaction, rows) =>
    audit.record(
      transaction,
      caller,
      ...rows.map(({ id, statusBefore }) => ({
        action: "run.cancelled" as const,
        resourceType: "run",
        resourceId: id,
        changes: changesBetween({ status: statusBefore }, { status: "cancelled" }),
      })),
    ),
  );
  audit.wake();
  if (cancelled.length === 0) {
    const run = await findSummary(database, companyId, runId);
    if (run === null) throw runNotFound();
    throw new AppError("INVALID_STATE", `The run is ${run.status} and cannot be cancelled.`, {
      details: { currentStatus: run.status },
    });
  }
  try {
    await cancelWaitedChildren(context, cancelled, requestId);
  } catch (error) {
    // The run itself is cancelled. Upkeep finds the orphaned children.
    log.warn({ err: error, runId }, "could not cancel the children of a cancelled run");
  }
}
