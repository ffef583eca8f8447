import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { SCHEDULE_COLUMNS, scheduleRow } from "./schedules.ts";

const nothing = z.object({});
const idRow = z.object({ id: z.string() });
const comingRow = z.object({
  id: z.string(),
  next_run_at: z.date(),
  deployment_id: z.string(),
});
const claimedRow = scheduleRow.extend({ deployment_id: z.string(), next_run_at: z.date() });

/** A schedule that fires soon, and what it would start now. */
export type ComingRow = z.infer<typeof comingRow>;
/** A schedule that is due and is this transaction's to fire. */
export type ClaimedRow = z.infer<typeof claimedRow>;

/** Schedules that fire at or before a time, the earliest first. */
export async function listComing(
  queryable: Queryable,
  until: Date,
  limit: number,
): Promise<readonly ComingRow[]> {
  return queryable.any(sql.prepared("schedules_coming", comingRow)`
    select schedule.id, schedule.next_run_at, head.deployment_id
    from runs.schedules as schedule
    join runs.deployment_heads as head on head.workflow_id = schedule.workflow_id
    where schedule.next_run_at <= ${until.toISOString()}
    order by schedule.next_run_at, schedule.id
    limit ${limit}
  `);
}

/** Locks those of the schedules that are due and that nobody else fires or changes just now. */
export async function claimDue(
  transaction: Transaction,
  ids: readonly string[],
  now: Date,
): Promise<readonly ClaimedRow[]> {
  return transaction.any(sql.type(claimedRow)`
    select ${SCHEDULE_COLUMNS}, head.deployment_id
    from runs.schedules as schedule
    join runs.deployment_heads as head on head.workflow_id = schedule.workflow_id
    where schedule.id = any(${sql.array([...ids], "text")})
      and schedule.next_run_at <= ${now.toISOString()}
    for update of schedule skip locked
  `);
}

/** Those of the schedules of which a run has not ended yet. */
export async function listBusySchedules(
  queryable: Queryable,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await queryable.any(sql.type(idRow)`
    select distinct schedule_id as id from runs.runs
    where schedule_id = any(${sql.array([...ids], "text")}) and completed_at is null
  `);
  return new Set(rows.map(({ id }) => id));
}

/** When a schedule that was due fires next. */
export interface NextFiring {
  id: string;
  nextRunAt: Date | null;
}

/** Moves schedules on that the transaction has claimed. */
export async function moveOn(
  transaction: Transaction,
  firings: readonly NextFiring[],
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    update runs.schedules as schedule
    set next_run_at = fired.next_run_at::timestamptz
    from ${sql.unnest(
      firings.map(({ id, nextRunAt }) => [id, nextRunAt?.toISOString() ?? null]),
      ["text", "text"],
    )} as fired (id, next_run_at)
    where schedule.id = fired.id
  `);
}

/** A run that a schedule has started. */
export interface ScheduledRun {
  scheduleId: string;
  runId: string;
}

/** Counts runs that schedules have started, which the transaction has locked. */
export async function countRuns(
  transaction: Transaction,
  runs: readonly ScheduledRun[],
  now: Date,
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    update runs.schedules as schedule
    set last_run_at = ${now.toISOString()},
      last_run_id = started.run_id,
      run_count = schedule.run_count + 1
    from ${sql.unnest(
      runs.map(({ scheduleId, runId }) => [scheduleId, runId]),
      ["text", "text"],
    )} as started (schedule_id, run_id)
    where schedule.id = started.schedule_id
  `);
}
