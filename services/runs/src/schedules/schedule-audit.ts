import { changesBetween, unchanged } from "@workflow/audit";
import type { AuditChanges, AuditFields } from "@workflow/audit";
import type { ScheduleRow } from "../store/schedules.ts";

/** The changes that a caller made to a schedule, and the workflow's id. */
export function scheduleChanges(before: ScheduleRow, after: ScheduleRow): AuditChanges {
  return {
    ...unchanged({ workflowId: after.workflowId }),
    ...changesBetween(fieldsOf(before), fieldsOf(after)),
  };
}

function fieldsOf({
  cron,
  intervalValue,
  intervalUnit,
  timezone,
  enabled,
}: ScheduleRow): AuditFields {
  const interval = intervalValue === null ? null : `${intervalValue} ${intervalUnit}`;
  return { cronExpression: cron, interval, timezone, enabled };
}
