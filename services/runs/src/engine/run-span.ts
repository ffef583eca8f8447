import type { Span, Tracer } from "@workflow/tracing";
import type { Ending } from "../journal/ending.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { LoadedRun } from "./load-runs.ts";

/**
 * Begins the span of one execution of a run whose trace is recorded. The first one of a run is known by the
 * run's id; those after a wait or a take-over, in whatever process, link to it.
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

/** How an execution ended; null when it was given up: another process goes on. */
export function endRunSpan(span: Span, ending: Ending | null): void {
  if (ending === null) {
    span.set({ "workflow.run.status": "given_up" });
    span.end("LEASE_LOST");
    return;
  }
  span.set({ "workflow.run.status": ending.status });
  span.end("error" in ending ? ending.error?.code : undefined);
}
