import { changesBetween, unchanged } from "@workflow/events";
import type { AuditChanges, AuditFields } from "@workflow/events";
import type { ScheduleRow } from "../store/schedules.ts";

/** What a caller changed of a schedule, and of which workflow it is. */
export function scheduleChanges(before: ScheduleRow, after: ScheduleRow): AuditChanges {
  return {
    ...unchanged({ workflowId: after.workflow_id }),
    ...changesBetween(fieldsOf(before), fieldsOf(after)),
  };
}

function fieldsOf({
  cron,
  interval_value,
  interval_unit,
  timezone,
  enabled,
}: ScheduleRow): AuditFields {
  const interval = interval_value === null ? null : `${interval_value} ${interval_unit}`;
  return { cronExpression: cron, interval, timezone, enabled };
}
