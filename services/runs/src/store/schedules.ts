import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});

/** A row of `runs.schedules`. */
export const scheduleRow = z.object({
  id: z.string(),
  companyId: z.string(),
  workflowId: z.string(),
  cron: z.string().nullable(),
  intervalValue: z.number().nullable(),
  intervalUnit: z.enum(["minutes", "hours", "days", "weeks"]).nullable(),
  timezone: z.string(),
  overlap: z.enum(["allow", "skip"]),
  catchUp: z.enum(["none", "last"]),
  /** JSON text of an object. */
  input: z.string().nullable(),
  enabled: z.boolean(),
  active: z.boolean(),
  triggerTimes: z.string(),
  triggerEnabled: z.boolean(),
  anchor: z.date(),
  nextRunAt: z.date().nullable(),
  lastRunAt: z.date().nullable(),
  lastRunId: z.string().nullable(),
  runCount: z.number(),
  consecutiveFailures: z.number(),
  lastError: z.string().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});

/** A schedule as it is stored. */
export type ScheduleRow = z.infer<typeof scheduleRow>;

/** The columns of a `ScheduleRow` of the table called `schedule`. */
export const SCHEDULE_COLUMNS = sql.fragment`
  schedule.id, schedule.company_id as "companyId", schedule.workflow_id as "workflowId",
  schedule.cron, schedule.interval_value as "intervalValue",
  schedule.interval_unit as "intervalUnit", schedule.timezone, schedule.overlap,
  schedule.catch_up as "catchUp",
  schedule.input::text, schedule.enabled, schedule.active, schedule.trigger_times as "triggerTimes",
  schedule.trigger_enabled as "triggerEnabled", schedule.anchor,
  schedule.next_run_at as "nextRunAt", schedule.last_run_at as "lastRunAt",
  schedule.last_run_id as "lastRunId", schedule.run_count as "runCount",
  schedule.consecutive_failures as "consecutiveFailures", schedule.last_error as "lastError",
  schedule.created_at as "createdAt", schedule.updated_at as "updatedAt"
`;

/** Identifies a workflow of a company. */
export interface WorkflowOf {
  companyId: string;
  workflowId: string;
}

/** A workflow's schedule; null when it has none, or is not the company's. */
export async function findSchedule(
  queryable: Queryable,
  { companyId, workflowId }: WorkflowOf,
): Promise<ScheduleRow | null> {
  return queryable.maybeOne(sql.type(scheduleRow)`
    select ${SCHEDULE_COLUMNS}
    from runs.schedules as schedule
    where schedule.workflow_id = ${workflowId} and schedule.company_id = ${companyId}
  `);
}

/** The same as `findSchedule`, but the row stays locked until the transaction ends. */
export async function lockSchedule(
  transaction: Transaction,
  { companyId, workflowId }: WorkflowOf,
): Promise<ScheduleRow | null> {
  return transaction.maybeOne(sql.type(scheduleRow)`
    select ${SCHEDULE_COLUMNS}
    from runs.schedules as schedule
    where schedule.workflow_id = ${workflowId} and schedule.company_id = ${companyId}
    for update
  `);
}

/**
 * Stores a schedule that is new, or was locked and changed. The counts of its runs are not written: they
 * change only when it fires.
 */
export async function putSchedule(transaction: Transaction, row: ScheduleRow): Promise<void> {
  await transaction.query(sql.type(nothing)`
    insert into runs.schedules (
      id, company_id, workflow_id, cron, interval_value, interval_unit, timezone, overlap, catch_up,
      input, enabled, active, trigger_times, trigger_enabled, anchor, next_run_at,
      consecutive_failures, last_error, created_at, updated_at
    )
    values (
      ${row.id}, ${row.companyId}, ${row.workflowId}, ${row.cron}, ${row.intervalValue},
      ${row.intervalUnit}, ${row.timezone}, ${row.overlap}, ${row.catchUp}, ${row.input},
      ${row.enabled}, ${row.active}, ${row.triggerTimes}, ${row.triggerEnabled},
      ${row.anchor.toISOString()}, ${toTimestamp(row.nextRunAt)}, ${row.consecutiveFailures},
      ${row.lastError}, ${row.createdAt.toISOString()}, ${row.updatedAt.toISOString()}
    )
    on conflict on constraint schedules_pkey do update
    set cron = excluded.cron,
      interval_value = excluded.interval_value,
      interval_unit = excluded.interval_unit,
      timezone = excluded.timezone,
      overlap = excluded.overlap,
      catch_up = excluded.catch_up,
      input = excluded.input,
      enabled = excluded.enabled,
      active = excluded.active,
      trigger_times = excluded.trigger_times,
      trigger_enabled = excluded.trigger_enabled,
      anchor = excluded.anchor,
      next_run_at = excluded.next_run_at,
      consecutive_failures = excluded.consecutive_failures,
      last_error = excluded.last_error,
      updated_at = excluded.updated_at
  `);
}

/** Deletes a workflow's schedule, if it has one. */
export async function deleteSchedule(
  transaction: Transaction,
  { companyId, workflowId }: WorkflowOf,
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    delete from runs.schedules where workflow_id = ${workflowId} and company_id = ${companyId}
  `);
}

function toTimestamp(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
