import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});

/** A row of `runs.schedules`. */
export const scheduleRow = z.object({
  id: z.string(),
  company_id: z.string(),
  workflow_id: z.string(),
  cron: z.string().nullable(),
  interval_value: z.number().nullable(),
  interval_unit: z.enum(["minutes", "hours", "days", "weeks"]).nullable(),
  timezone: z.string(),
  overlap: z.enum(["allow", "skip"]),
  catch_up: z.enum(["none", "last"]),
  /** JSON text of an object. */
  input: z.string().nullable(),
  enabled: z.boolean(),
  active: z.boolean(),
  trigger_times: z.string(),
  trigger_enabled: z.boolean(),
  anchor: z.date(),
  next_run_at: z.date().nullable(),
  last_run_at: z.date().nullable(),
  last_run_id: z.string().nullable(),
  run_count: z.number(),
  consecutive_failures: z.number(),
  last_error: z.string().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
});

/** A schedule as it is stored. */
export type ScheduleRow = z.infer<typeof scheduleRow>;

/** The columns of a `ScheduleRow` of the table called `schedule`. */
export const SCHEDULE_COLUMNS = sql.fragment`
  schedule.id, schedule.company_id, schedule.workflow_id, schedule.cron, schedule.interval_value,
  schedule.interval_unit, schedule.timezone, schedule.overlap, schedule.catch_up,
  schedule.input::text, schedule.enabled, schedule.active, schedule.trigger_times,
  schedule.trigger_enabled, schedule.anchor, schedule.next_run_at, schedule.last_run_at,
  schedule.last_run_id, schedule.run_count, schedule.consecutive_failures, schedule.last_error,
  schedule.created_at, schedule.updated_at
`;

/** Names a workflow of a company. */
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

/** As `findSchedule`, and nobody else changes or fires it until the transaction ends. */
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
 * Stores a schedule that is new, or was locked and changed. What it has started is not written: that
 * only changes when it fires.
 */
export async function putSchedule(transaction: Transaction, row: ScheduleRow): Promise<void> {
  await transaction.query(sql.type(nothing)`
    insert into runs.schedules (
      id, company_id, workflow_id, cron, interval_value, interval_unit, timezone, overlap, catch_up,
      input, enabled, active, trigger_times, trigger_enabled, anchor, next_run_at,
      consecutive_failures, last_error, created_at, updated_at
    )
    values (
      ${row.id}, ${row.company_id}, ${row.workflow_id}, ${row.cron}, ${row.interval_value},
      ${row.interval_unit}, ${row.timezone}, ${row.overlap}, ${row.catch_up}, ${row.input},
      ${row.enabled}, ${row.active}, ${row.trigger_times}, ${row.trigger_enabled},
      ${row.anchor.toISOString()}, ${toTimestamp(row.next_run_at)}, ${row.consecutive_failures},
      ${row.last_error}, ${row.created_at.toISOString()}, ${row.updated_at.toISOString()}
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

/** Forgets a workflow's schedule, if it has one. */
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
