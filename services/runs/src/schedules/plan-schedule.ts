import type { Tracer } from "@workflow/tracing";
import type { Deployment } from "../deployments/deployment-cache.ts";
import { findInputViolations } from "../deployments/input-violations.ts";
import type { ClaimedRow } from "../store/fire-schedules.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { TaskRuntime } from "../task-runtime/runtime.ts";
import type { FiringPlanner } from "./schedule-times.ts";
import { inputOf, scheduledRun } from "./scheduled-run.ts";

/** The plan for one schedule that is due. */
export type Firing =
  | { kind: "start"; id: string; nextRunAt: Date | null; run: NewRun }
  /** No run is started, and that is no failure. */
  | { kind: "skip"; id: string; nextRunAt: Date | null; reason: string }
  | { kind: "fail"; id: string; nextRunAt: Date | null; error: string };

/** The circumstances of the firings in one poll. */
export interface FiringMoment {
  planner: FiringPlanner;
  /** Schedules whose earlier runs have not ended. */
  busy: ReadonlySet<string>;
  /** Schedules of companies that have too many pending runs. */
  refused: ReadonlySet<string>;
  tracer: Tracer | undefined;
}

/** Plans the firing of a schedule that is due. */
export function planSchedule(
  schedule: ClaimedRow,
  deployment: Deployment,
  runtime: TaskRuntime,
  { planner, busy, refused, tracer }: FiringMoment,
): Firing {
  const { id } = schedule;
  const { latest, missed, nextRunAt } = planner.plan(schedule, schedule.nextRunAt);
  const skip = (why: string): Firing => ({
    kind: "skip",
    id,
    nextRunAt,
    reason: `The firing of ${latest.toISOString()} was skipped: ${why}`,
  });
  if (missed && schedule.catchUp === "none") return skip("no scheduler was there.");
  if (busy.has(id)) return skip("the run before it had not ended.");
  const [violation] = findInputViolations(deployment, JSON.parse(inputOf(schedule)));
  if (violation !== undefined) {
    const place = ["input", ...violation.path].join(".");
    const error = `The schedule's input does not fit the inputSchema: ${place} ${violation.message}.`;
    return { kind: "fail", id, nextRunAt, error };
  }
  if (refused.has(id)) return skip("the company had too many runs that had not begun.");
  const traceparent = beginTrace(tracer, schedule);
  const firing = { scheduledAt: latest, requestId: null, traceparent };
  return { kind: "start", id, nextRunAt, run: scheduledRun(schedule, deployment, firing, runtime) };
}

/** A scheduled run has no caller, so its trace begins with the firing; null when the trace is not recorded. */
function beginTrace(tracer: Tracer | undefined, { id, companyId }: ClaimedRow): string | null {
  const span = tracer?.begin("schedule fires", undefined, {
    attributes: { "workflow.schedule.id": id, "workflow.company.id": companyId },
  }).span;
  span?.end();
  return span?.traceparent ?? null;
}
