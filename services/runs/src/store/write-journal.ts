import { sql } from "@workflow/db";
import type { SqlFragment, Transaction } from "@workflow/db";
import { toOutboxRow } from "@workflow/events";
import type { NewEvent } from "@workflow/events";
import { z } from "zod";
import type { JournalEntry, OpenStep, StepRecord } from "../engine/journal.ts";
import { RUN_TRANSITIONS } from "../domain/run-status.ts";
import { storableJson } from "../domain/storable-json.ts";

/*
 * Each statement takes the whole batch as one JSON document (`json_to_recordset`) rather than as
 * arrays: documents inside need no quoting, and a batch of any size is one prepared statement.
 */

const nothing = z.object({});
const writtenRow = z.object({
  run_id: z.string(),
  changed: z.boolean(),
  transaction_id: z.string(),
});

/** Statuses from which a run may still change; the conditions below all rest on it. */
const LIVE_STATUSES = Object.entries(RUN_TRANSITIONS)
  .filter(([, next]) => next.length > 0)
  .map(([status]) => status);

/** A run whose lease held, as the checkpoint left it. */
export type WrittenRun = z.infer<typeof writtenRow>;

/**
 * Settles the leases and writes the runs' rows, their new step results and their events, in one
 * statement. Returns
 * the runs whose lease held; for the others nothing is written. `changed` is false for a run that
 * has ended, which no leased one has: the transaction is to be given up then. So it is by the
 * database when a step has a result already.
 *
 * @param settled CTEs of which the last is `settled (run_id)`
 */
export async function writeCheckpoints(
  transaction: Transaction,
  settled: SettledRuns,
  entries: readonly JournalEntry[],
): Promise<readonly WrittenRun[]> {
  const runs = entries.map(runDocument);
  const results = entries.flatMap(({ lease, results }) =>
    results.map((record) => resultDocument(lease.runId, record)),
  );
  const events = entries
    .flatMap(({ lease, events }) => events.map((event) => ({ runId: lease.runId, event })))
    .map(({ runId, event }, position) => eventDocument(runId, event, position));
  return transaction.any(sql.prepared(`journal_checkpoints_${settled.by}`, writtenRow)`
    with ${settled.ctes}, changed as (
      update runs.runs as run
      set status = change.status,
        started_at = coalesce(run.started_at, change.started_at),
        completed_at = change.completed_at,
        output = change.output,
        error = change.error,
        active_ms = change.active_ms,
        active_since = change.active_since
      from json_to_recordset(${jsonArray(runs)}::json) as change (
        id text, status text, started_at timestamptz, completed_at timestamptz, output json,
        error json, active_ms bigint, active_since timestamptz
      )
      where run.id = change.id
        and run.id in (select run_id from settled)
        and run.status = any(${sql.array(LIVE_STATUSES, "text")})
      returning run.id
    ), inserted as (
      insert into runs.step_results (
        run_id, path, seq, step_id, type, status, started_at, completed_at, input, output, error,
        attempt, previous_attempts
      )
      select run_id, path, seq, step_id, type, status, started_at, completed_at, input, output,
        error, attempt, previous_attempts
      from json_to_recordset(${jsonArray(results)}::json) as result (
        run_id text, path text, seq integer, step_id text, type text, status text,
        started_at timestamptz, completed_at timestamptz, input json, output json, error json,
        attempt integer, previous_attempts json
      )
      where run_id in (select run_id from settled)
    ), announced as (
      insert into runs.outbox (id, type, company_id, payload)
      select id, type, company_id, payload
      from json_to_recordset(${jsonArray(events)}::json) as event (
        position integer, run_id text, id text, type text, company_id uuid, payload json
      )
      where run_id in (select run_id from settled)
      order by position
    )
    select settled.run_id, changed.id is not null as changed,
      pg_current_xact_id()::text as transaction_id
    from settled
    left join changed on changed.id = settled.run_id
  `);
}

/** How a statement learns which leases hold. */
export interface SettledRuns {
  /** By settling them itself, or because a statement before it did. */
  by: "itself" | "another";
  /** CTEs of which the last is `settled (run_id)`. */
  ctes: SqlFragment;
}

/** The runs of which it is already known that their leases hold. */
export function settledRuns(runIds: Iterable<string>): SettledRuns {
  const ctes = sql.fragment`
    settled as (
      select run_id from ${sql.unnest(
        Array.from(runIds, (runId) => [runId]),
        ["text"],
      )} as settled (run_id)
    )`;
  return { by: "another", ctes };
}

function runDocument({ lease, run }: JournalEntry): string {
  return jsonObject({
    id: text(lease.runId),
    status: text(run.status),
    started_at: time(run.startedAt),
    completed_at: time(run.completedAt),
    output: run.output ?? "null",
    error: storableJson(run.error),
    active_ms: String(Math.round(run.activeMs)),
    active_since: time(run.activeSince),
  });
}

function eventDocument(runId: string, event: NewEvent, position: number): string {
  const row = toOutboxRow(event);
  return jsonObject({
    position: String(position),
    run_id: text(runId),
    id: text(row.id),
    type: text(row.type),
    company_id: text(row.companyId),
    payload: row.payload,
  });
}

function resultDocument(runId: string, record: StepRecord): string {
  return jsonObject({
    run_id: text(runId),
    path: text(record.path),
    seq: String(record.seq),
    step_id: text(record.stepId),
    type: text(record.type),
    status: text(record.status),
    started_at: time(record.startedAt),
    completed_at: time(record.completedAt),
    input: record.input ?? "null",
    output: record.output ?? "null",
    error: storableJson(record.error),
    attempt: String(record.attempt),
    previous_attempts: attempts(record),
  });
}

/** Stores steps that have begun and wait, or what has changed about them. */
export async function upsertOpenSteps(
  transaction: Transaction,
  opened: readonly { runId: string; step: OpenStep }[],
): Promise<void> {
  const rows = opened.map(({ runId, step }) =>
    jsonObject({
      run_id: text(runId),
      path: text(step.path),
      seq: String(step.seq),
      started_at: time(step.startedAt),
      due_at: time(step.dueAt),
      deadline_at: time(step.deadlineAt),
      attempt: String(step.attempt),
      attempt_group: String(step.attemptGroup),
      previous_attempts: attempts(step),
    }),
  );
  await transaction.query(sql.prepared("journal_open", nothing)`
    insert into runs.open_steps (
      run_id, path, seq, started_at, due_at, deadline_at, attempt, attempt_group,
      previous_attempts
    )
    select run_id, path, seq, started_at, due_at, deadline_at, attempt, attempt_group,
      previous_attempts
    from json_to_recordset(${jsonArray(rows)}::json) as open (
      run_id text, path text, seq integer, started_at timestamptz, due_at timestamptz,
      deadline_at timestamptz, attempt integer, attempt_group integer, previous_attempts json
    )
    on conflict on constraint open_steps_pkey do update
    set due_at = excluded.due_at,
      deadline_at = excluded.deadline_at,
      attempt = excluded.attempt,
      attempt_group = excluded.attempt_group,
      previous_attempts = excluded.previous_attempts
  `);
}

/** Forgets open steps that have ended. */
export async function deleteOpenSteps(
  transaction: Transaction,
  closed: readonly { runId: string; path: string }[],
): Promise<void> {
  await transaction.query(sql.prepared("journal_close", nothing)`
    delete from runs.open_steps as open
    using ${sql.unnest(
      closed.map(({ runId, path }) => [runId, path]),
      ["text", "text"],
    )} as closed (run_id, path)
    where open.run_id = closed.run_id and open.path = closed.path
  `);
}

/** Forgets the results inside containers that begin anew. */
export async function deleteResultsInside(
  transaction: Transaction,
  containers: readonly { runId: string; path: string }[],
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    delete from runs.step_results as result
    using ${sql.unnest(
      containers.map(({ runId, path }) => [runId, path]),
      ["text", "text"],
    )} as container (run_id, path)
    where result.run_id = container.run_id
      and (starts_with(result.path, container.path || '.')
        or starts_with(result.path, container.path || '['))
  `);
}

/** Forgets every open step of runs that have ended. */
export async function deleteOpenStepsOf(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<void> {
  await transaction.query(sql.prepared("journal_close_all", nothing)`
    delete from runs.open_steps where run_id = any(${sql.array([...runIds], "text")})
  `);
}

function attempts({ previousAttempts }: Pick<StepRecord, "previousAttempts">): string {
  return previousAttempts.length === 0 ? "null" : storableJson(previousAttempts);
}

function text(value: string): string {
  return JSON.stringify(value);
}

function time(value: Date | null): string {
  return value === null ? "null" : `"${value.toISOString()}"`;
}

/** Puts JSON texts together without parsing them. */
function jsonObject(fields: Record<string, string>): string {
  let members = "";
  for (const [name, value] of Object.entries(fields)) {
    members += `${members === "" ? "" : ","}"${name}":${value}`;
  }
  return `{${members}}`;
}

function jsonArray(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}
