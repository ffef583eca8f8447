import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const runIdRow = z.object({ runId: z.string() });
const heldRow = z.object({ held: z.boolean() });

/** Queued runs of one workflow that one statement considers. A transaction frees fewer slots. */
const ADMIT_MAX = 1_000;

/** Whether a run holds a slot (true) or queues for one (false); null when neither is noted. */
export async function findSlot(queryable: Queryable, runId: string): Promise<boolean | null> {
  const row = await queryable.maybeOne(sql.prepared("slot_find", heldRow)`
    select held from runs.concurrency_slots where run_id = ${runId}
  `);
  return row?.held ?? null;
}

/**
 * Locks the slots of these workflows until the transaction ends. The locks are taken in the order of the
 * keys, not of the ids, so that two workflows whose keys collide cannot deadlock.
 */
export async function lockSlots(
  transaction: Transaction,
  workflowIds: readonly string[],
): Promise<void> {
  await transaction.any(sql.prepared("slot_lock", nothing)`
    select from (
      select distinct hashtextextended('concurrency ' || workflow_id, 0) as key
      from ${sql.unnest(
        workflowIds.map((workflowId) => [workflowId]),
        ["text"],
      )} as workflow (workflow_id)
      order by key
    ) as keys, lateral pg_advisory_xact_lock(keys.key)
  `);
}

/** A run that asks for a slot of its workflow. */
export interface SlotRequest {
  runId: string;
  workflowId: string;
  /** How many runs of the workflow may hold a slot, by the run's own version. */
  limit: number;
}

/** Puts a run into the queue, unless it is in the table already or has ended meanwhile. */
export async function insertQueued(transaction: Transaction, request: SlotRequest): Promise<void> {
  await transaction.query(sql.prepared("slot_insert", nothing)`
    insert into runs.concurrency_slots (run_id, workflow_id, run_limit, held)
    select id, workflow_id, ${request.limit}::integer, false
    from runs.runs
    where id = ${request.runId} and workflow_id = ${request.workflowId} and completed_at is null
    on conflict on constraint concurrency_slots_pkey do nothing
  `);
}

/**
 * Gives free slots of these workflows to the first runs in the queue, and returns those runs' ids. The
 * first run that its own limit keeps waiting holds up those behind it.
 */
export async function admitQueued(
  transaction: Transaction,
  workflowIds: readonly string[],
): Promise<readonly string[]> {
  const admitted: string[] = [];
  for (;;) {
    const rows = await transaction.any(sql.prepared("slot_admit", runIdRow)`
      with queued as (
        select workflow.workflow_id, front.run_id,
          front.run_limit >= holders.runs + row_number() over (
            partition by workflow.workflow_id order by front.run_id
          ) as fits
        from ${sql.unnest(
          workflowIds.map((workflowId) => [workflowId]),
          ["uuid"],
        )} as workflow (workflow_id)
        cross join lateral (
          select run_id, run_limit from runs.concurrency_slots
          where workflow_id = workflow.workflow_id and not held
          order by run_id
          limit ${ADMIT_MAX}
        ) as front
        cross join lateral (
          select count(*) as runs from runs.concurrency_slots
          where workflow_id = workflow.workflow_id and held
        ) as holders
      ), admitted as (
        select run_id, bool_and(fits) over (partition by workflow_id order by run_id) as enters
        from queued
      )
      update runs.concurrency_slots as slot
      set held = true
      from admitted
      where slot.run_id = admitted.run_id and admitted.enters
      returning slot.run_id as "runId"
    `);
    for (const row of rows) admitted.push(row.runId);
    if (rows.length < ADMIT_MAX) return admitted;
  }
}

/** Deletes the entries of runs that have ended or may not wait. */
export async function deleteSlots(
  transaction: Transaction,
  runIds: readonly string[],
): Promise<void> {
  await transaction.query(sql.prepared("slot_delete", nothing)`
    with locked as materialized (
      select run_id from runs.concurrency_slots
      where run_id = any(${sql.array([...runIds], "text")})
      order by run_id
      for update
    )
    delete from runs.concurrency_slots where run_id in (select run_id from locked)
  `);
}
