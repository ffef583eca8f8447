import { sql } from "@workflow/db";
import type { Queryable, SqlFragment, Transaction } from "@workflow/db";
import type { NewEvent } from "@workflow/events";
import { z } from "zod";
import { RUN_TRANSITIONS } from "../domain/run-status.ts";
import type { OpenStep, StepRecord } from "../domain/step-records.ts";
import {
  eventDocument,
  jsonArray,
  openStepDocument,
  resultDocument,
  runDocument,
} from "./journal-documents.ts";
import type { JournaledRun } from "./journal-documents.ts";
import { oldestRun } from "./oldest-run.ts";

/*
 * Each statement takes the whole batch as one JSON document (`json_to_recordset`) rather than as arrays.
 * Documents inside need no quoting, and a batch of any size is one prepared statement.
 */

const nothing = z.object({});
const lockedRow = z.object({ id: z.string() });
const writtenRow = z.object({ runId: z.string(), changed: z.boolean() });

/** Every legal change of a run's status, as `from>to`. */
const LEGAL_STEPS = Object.entries(RUN_TRANSITIONS).flatMap(([from, next]) =>
  next.map((to) => `${from}>${to}`),
);

/** What a checkpoint writes of one run. */
export interface CheckpointRows extends JournaledRun {
  results: readonly StepRecord[];
  events: readonly NewEvent[];
}

/** A run whose lease held, as the checkpoint left it. */
export type WrittenRun = z.infer<typeof writtenRow>;

/**
 * Writes the runs' rows, their new step results and their events and settles their leases, in one
 * statement. Returns the runs whose lease held. Nothing is written of a run whose `changed` is false.
 * That is a run that may not go from its status to the new one, which includes all that have ended; a run
 * that a later lease has acquired; or one whose journal is at another entry. If a step has a result
 * already the database refuses the statement. Ids in an array, which the planner takes for few, keep it
 * from joining whole partitions.
 */
export async function writeCheckpoints(
  queryable: Queryable,
  held: HeldRuns,
  entries: readonly CheckpointRows[],
): Promise<readonly WrittenRun[]> {
  const results = entries.flatMap(({ lease, results }) =>
    results.map((record) => resultDocument(lease.runId, record)),
  );
  const events = entries
    .flatMap(({ lease, events }) => events.map((event) => ({ runId: lease.runId, event })))
    .map(({ runId, event }, position) => eventDocument(runId, event, position));
  return queryable.any(sql.prepared(`journal_checkpoints_${held.by}`, writtenRow)`
    with ${held.ctes}, ${changedRunsCte(entries)}, ${held.settle}, inserted as (
      insert into runs.step_results (
        run_id, path, seq, step_id, type, status, started_at, completed_at, input, output, error,
        attempt, previous_attempts, input_bytes, output_bytes
      )
      select run_id, path, seq, step_id, type, status, started_at, completed_at, input, output,
        error, attempt, previous_attempts, coalesce(octet_length(input::text), 0),
        coalesce(octet_length(output::text), 0)
      from json_to_recordset(${jsonArray(results)}::json) as result (
        run_id text, path text, seq integer, step_id text, type text, status text,
        started_at timestamptz, completed_at timestamptz, input json, output json, error json,
        attempt integer, previous_attempts json
      )
      where run_id in (select run_id from changed)
    ), announced as (
      insert into runs.outbox (id, type, company_id, payload)
      select id, type, company_id, payload
      from json_to_recordset(${jsonArray(events)}::json) as event (
        position integer, run_id text, id text, type text, company_id uuid, payload json
      )
      where run_id in (select run_id from changed)
      order by position
    )
    select held.run_id as "runId", changed.run_id is not null as changed
    from held
    left join changed on changed.run_id = held.run_id
  `);
}

/** `changed (run_id)`: the runs whose rows were written, with their journals' new last entries. */
function changedRunsCte(entries: readonly JournaledRun[]): SqlFragment {
  const ids = entries.map(({ lease }) => lease.runId);
  return sql.fragment`
    changed as (
      update runs.runs as run
      set status = change.status,
        started_at = coalesce(run.started_at, change.started_at),
        completed_at = change.completed_at,
        output = change.output,
        error = change.error,
        active_ms = change.active_ms,
        active_since = now() - change.active_for_ms * interval '1 millisecond',
        journal_entry = change.after_entry + 1
      from json_to_recordset(${jsonArray(entries.map(runDocument))}::json) as change (
        id text, status text, started_at timestamptz, completed_at timestamptz, output json,
        error json, active_ms bigint, active_for_ms bigint, epoch bigint, after_entry bigint
      )
      where run.id = change.id
        and run.epoch = change.epoch and run.journal_entry = change.after_entry
        and run.id = any(array(select run_id from held)) and run.id >= ${oldestRun(ids)}
        and run.status || '>' || change.status = any(${sql.array(LEGAL_STEPS, "text")})
      returning run.id as run_id
    )`;
}

/** How a statement finds the valid leases. */
export interface HeldRuns {
  /** Whether this statement checks the leases, or one before it has. */
  by: "itself" | "another";
  /** CTEs of which the last is `held (run_id)`. */
  ctes: SqlFragment;
  /** CTEs that settle the leases of the runs in `changed (run_id)`. */
  settle: SqlFragment;
}

/** Runs whose leases are known to hold, and are settled elsewhere. */
export function heldRuns(runIds: Iterable<string>): HeldRuns {
  const ctes = sql.fragment`
    held as (
      select run_id from ${sql.unnest(
        Array.from(runIds, (runId) => [runId]),
        ["text"],
      )} as held (run_id)
    )`;
  return { by: "another", ctes, settle: sql.fragment`settled as (select)` };
}

/**
 * Locks those of the runs whose newest acquisition these are, in the order of their ids, and returns
 * their ids.
 */
export async function lockAcquired(
  transaction: Transaction,
  leases: readonly { runId: string; fence: number }[],
): Promise<Set<string>> {
  const rows = await transaction.any(sql.prepared("journal_lock", lockedRow)`
    select run.id
    from runs.runs as run
    join ${sql.unnest(
      leases.map(({ runId, fence }) => [runId, fence]),
      ["text", "int8"],
    )} as lease (run_id, fence) on lease.run_id = run.id and lease.fence = run.epoch
    where run.completed_at is null and run.id >= ${oldestRun(leases.map(({ runId }) => runId))}
    order by run.id
    for update of run
  `);
  return new Set(rows.map((row) => row.id));
}

/** Stores steps that have begun and wait, or the changes of these steps. */
export async function upsertOpenSteps(
  transaction: Transaction,
  opened: readonly { runId: string; step: OpenStep }[],
): Promise<void> {
  const rows = opened.map(({ runId, step }) => openStepDocument(runId, step));
  await transaction.query(sql.prepared("journal_open", nothing)`
    insert into runs.open_steps (
      run_id, path, seq, started_at, due_at, has_turn, deadline_at, attempt, attempt_group,
      previous_attempts
    )
    select run_id, path, seq, started_at, due_at, has_turn, deadline_at, attempt, attempt_group,
      previous_attempts
    from json_to_recordset(${jsonArray(rows)}::json) as open (
      run_id text, path text, seq integer, started_at timestamptz, due_at timestamptz,
      has_turn boolean, deadline_at timestamptz, attempt integer, attempt_group integer, previous_attempts json
    )
    on conflict on constraint open_steps_pkey do update
    set due_at = excluded.due_at,
      has_turn = excluded.has_turn,
      deadline_at = excluded.deadline_at,
      attempt = excluded.attempt,
      attempt_group = excluded.attempt_group,
      previous_attempts = excluded.previous_attempts
  `);
}

/** Deletes open steps that have ended. */
export async function deleteOpenSteps(
  transaction: Transaction,
  closed: readonly { runId: string; path: string }[],
): Promise<void> {
  await transaction.query(sql.prepared("journal_close", nothing)`
    delete from runs.open_steps as open
    using ${pathRows(closed)} as closed (run_id, path)
    where open.run_id = closed.run_id and open.path = closed.path
  `);
}

/** Deletes results. */
export async function deleteResults(
  transaction: Transaction,
  results: readonly { runId: string; path: string }[],
): Promise<void> {
  await transaction.query(sql.prepared("journal_drop", nothing)`
    delete from runs.step_results as result
    using ${pathRows(results)} as dropped (run_id, path)
    where result.run_id = dropped.run_id and result.path = dropped.path
  `);
}

/**
 * Deletes the results inside containers that begin anew. A result is compared only with the containers
 * above it, of which there are few, and not with all that begin anew, which may be thousands.
 */
export async function deleteResultsInside(
  transaction: Transaction,
  containers: readonly { runId: string; path: string }[],
): Promise<void> {
  await transaction.query(sql.type(nothing)`
    with container as materialized (
      select distinct run_id, path from ${pathRows(containers)} as container (run_id, path)
    ), inside as (
      select distinct result.run_id, result.path
      from (select distinct run_id from container) as run
      join runs.step_results as result on result.run_id = run.run_id
      cross join lateral generate_series(2, length(result.path)) as sign (position)
      join container
        on container.run_id = result.run_id
        and container.path = left(result.path, sign.position - 1)
      where substr(result.path, sign.position, 1) in ('.', '[')
    )
    delete from runs.step_results as result
    using inside
    where result.run_id = inside.run_id and result.path = inside.path
  `);
}

function pathRows(rows: readonly { runId: string; path: string }[]): SqlFragment {
  return sql.fragment`${sql.unnest(
    rows.map(({ runId, path }) => [runId, path]),
    ["text", "text"],
  )}`;
}

/** Deletes all open steps of runs that have ended. */
export async function deleteOpenStepsOf(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<void> {
  await transaction.query(sql.prepared("journal_close_all", nothing)`
    delete from runs.open_steps where run_id = any(${sql.array([...runIds], "text")})
  `);
}
