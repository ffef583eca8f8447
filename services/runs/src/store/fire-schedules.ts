import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import { SCHEDULE_COLUMNS, scheduleRow } from "./schedules.ts";

const nothing = z.object({});
const idRow = z.object({ id: z.string() });
const dueRow = z.object({ id: z.string(), companyId: z.string(), deploymentId: z.string() });
const nextRow = z.object({ nextRunAt: z.date().nullable() });
const claimedRow = scheduleRow.extend({ deploymentId: z.string(), nextRunAt: z.date() });

/** A schedule that is due, and the deployment that it would start now. */
export type DueRow = z.infer<typeof dueRow>;
/** A due schedule that this transaction has claimed. */
export type ClaimedRow = z.infer<typeof claimedRow>;

/**
 * Schedules that are due and that nobody fires at the moment, in turns between companies (D57): the
 * earliest of each, then the second of each, and so on. Ranking costs 1 ms for each 1,000 that are due.
 */
export async function listDue(
  queryable: Queryable,
  now: Date,
  limit: number,
): Promise<readonly DueRow[]> {
  return queryable.any(sql.prepared("schedules_due", dueRow)`
    with ranked as materialized (
      select id, next_run_at,
        row_number() over (partition by company_id order by next_run_at, id) as turn
      from runs.schedules
      where next_run_at <= ${now.toISOString()}
    )
    select schedule.id, schedule.company_id as "companyId", head.deployment_id as "deploymentId"
    from ranked
    join runs.schedules as schedule on schedule.id = ranked.id
    join runs.deployment_heads as head on head.workflow_id = schedule.workflow_id
    where schedule.next_run_at <= ${now.toISOString()}
    order by ranked.turn, ranked.next_run_at, ranked.id
    limit ${limit}
    for update of schedule skip locked
  `);
}

/** The next firing of a schedule that is not due yet; null when there is none until `before`. */
export async function findNextFiring(
  queryable: Queryable,
  now: Date,
  until: Date,
): Promise<Date | null> {
  const { nextRunAt } = await queryable.one(sql.prepared("schedules_next", nextRow)`
    select min(next_run_at) as "nextRunAt" from runs.schedules
    where next_run_at > ${now.toISOString()} and next_run_at <= ${until.toISOString()}
  `);
  return nextRunAt;
}

/** Locks those of the schedules that are due and that nobody else fires or changes at the moment. */
export async function claimDue(
  transaction: Transaction,
  ids: readonly string[],
  now: Date,
): Promise<readonly ClaimedRow[]> {
  return transaction.any(sql.type(claimedRow)`
    select ${SCHEDULE_COLUMNS}, head.deployment_id as "deploymentId"
    from runs.schedules as schedule
    join runs.deployment_heads as head on head.workflow_id = schedule.workflow_id
    where schedule.id = any(${sql.array([...ids], "text")})
      and schedule.next_run_at <= ${now.toISOString()}
    for update of schedule skip locked
  `);
}

/** The schedules, of those given, with a run that has not ended. */
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

/** The next firing of a schedule that was due. */
export interface NextFiring {
  id: string;
  nextRunAt: Date | null;
  /** The reason why it has not fired now; null: the earlier reason stays. */
  skipped: string | null;
}

/** Moves the schedules on that the transaction has claimed. */
export async function moveOn(
  transaction: Transaction,
  firings: readonly NextFiring[],
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    update runs.schedules as schedule
    set next_run_at = fired.next_run_at::timestamptz,
      last_error = coalesce(fired.skipped, schedule.last_error)
    from ${sql.unnest(
      firings.map(({ id, nextRunAt, skipped }) => [id, nextRunAt?.toISOString() ?? null, skipped]),
      ["text", "text", "text"],
    )} as fired (id, next_run_at, skipped)
    where schedule.id = fired.id
  `);
}

/** A run that a schedule has started. */
export interface ScheduledRun {
  scheduleId: string;
  runId: string;
}

/** Counts the started runs of schedules that the transaction has locked. */
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
