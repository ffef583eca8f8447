import type { Database } from "@workflow/db";
import type { Span, Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Ending } from "../journal/ending.ts";
import { listStatuses } from "../store/list-statuses.ts";
import type { Lease } from "../task-runtime/port.ts";
import { WorkerStopped } from "../task-runtime/worker-stopped.ts";
import type { LoadedRun } from "./load-runs.ts";

/**
 * Why an execution did not write how the run ended: the run was cancelled, it was handed back for another
 * execution, or the lease was lost.
 */
export type GivenUp = "cancelled" | "handed_back" | "given_up";

/** Finds out what has ended an execution, for its span. Never rejects. */
export async function whyGivenUp({
  database,
  lease,
  row,
  logger,
}: Pick<LoadedRun, "row"> & {
  database: Database;
  lease: Lease;
  logger: Logger;
}): Promise<GivenUp> {
  if (lease.signal.reason instanceof WorkerStopped) return "handed_back";
  try {
    // A cancellation shows as an aborted lease, or as a write that was refused.
    const [run] = await listStatuses(database, row.companyId, [row.id]);
    return run?.status === "cancelled" ? "cancelled" : "given_up";
  } catch (err) {
    logger.warn({ err, runId: row.id }, "could not find out why an execution was given up");
    return "given_up";
  }
}

/**
 * Begins the span of one execution of a run whose trace is recorded. The span of the first execution is
 * known by the run's id. Spans of executions after a wait or a take-over, in whatever process, link to
 * it.
 */
export function beginRunSpan(
  tracer: Tracer | undefined,
  { row }: LoadedRun,
  { fence, takeovers }: Lease,
): Span | undefined {
  if (row.traceparent === null) return undefined;
  const isFirst = row.startedAt === null;
  return tracer?.span("run executes", row.traceparent, {
    attributes: {
      "workflow.run.id": row.id,
      "workflow.id": row.workflowId,
      "workflow.version": row.workflowVersion,
      "workflow.company.id": row.companyId,
      "workflow.request.id": row.requestId ?? undefined,
      "workflow.run.trigger": row.triggerType,
      "workflow.run.epoch": fence,
      ...(takeovers === 0 ? {} : { "workflow.run.takeovers": takeovers }),
      ...(isFirst ? { "workflow.run.waited_ms": Date.now() - row.createdAt.getTime() } : {}),
    },
    ...(isFirst ? { knownAs: row.id } : { linkTo: row.id }),
  });
}

/** Ends the span with the end of its execution. */
export function endRunSpan(span: Span, ending: Ending | GivenUp): void {
  if (typeof ending === "string") {
    span.set({ "workflow.run.status": ending });
    span.end(ending === "given_up" ? "LEASE_LOST" : undefined);
    return;
  }
  span.set({ "workflow.run.status": ending.status });
  span.end("error" in ending ? ending.error?.code : undefined);
}
