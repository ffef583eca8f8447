import { isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { IntervalUnit } from "@workflow/proto/runs/v1/schedules";
import type { Schedule } from "@workflow/proto/runs/v1/schedules";
import type { Identity } from "@workflow/rpc";
import { intervalOf } from "../schedules/schedule-times.ts";
import type { ScheduleRow, WorkflowOf } from "../store/schedules.ts";

const MESSAGE_UNIT = {
  minutes: IntervalUnit.MINUTES,
  hours: IntervalUnit.HOURS,
  days: IntervalUnit.DAYS,
  weeks: IntervalUnit.WEEKS,
} as const;

/** A schedule as a message. */
export function toScheduleMessage(row: ScheduleRow): Schedule {
  const interval = intervalOf(row);
  return {
    id: row.id,
    workflowId: row.workflowId,
    // This service keeps the times itself, whatever the task runtime. To the runtime a schedule is only
    // this name.
    triggerScheduleId: row.id.replace(/^sched_/, "timer_"),
    cron: row.cron ?? undefined,
    interval:
      interval === null ? undefined : { value: interval.value, unit: MESSAGE_UNIT[interval.unit] },
    timezone: row.timezone,
    enabled: row.enabled,
    nextRunAt: row.nextRunAt ?? undefined,
    lastRunAt: row.lastRunAt ?? undefined,
    lastRunId: row.lastRunId ?? "",
    runCount: row.runCount,
    consecutiveFailures: row.consecutiveFailures,
    lastError: row.lastError ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** The workflow that a request names, of the caller's company (D1). */
export function requireWorkflow(workflowId: string, identity: Identity): WorkflowOf {
  if (!isUuid(workflowId)) throw scheduleNotFound();
  return { companyId: identity.companyId, workflowId };
}

/**
 * The one error where there is no schedule: the workflow does not exist, is another company's, or has
 * none.
 */
export function scheduleNotFound(): AppError {
  return new AppError("NOT_FOUND", "Schedule not found");
}
