import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const eventRow = z.object({
  /** Null in the one row that describes the claim itself. */
  companyId: z.string().nullable(),
  eventId: z.string(),
  event: z.string(),
  attempts: z.number(),
  lastCompanyId: z.string().nullable(),
});

/** An event that has arrived. */
export interface ArrivedEvent {
  companyId: string;
  id: string;
  /** The key that workflows wait for (`triggerKeyOf`). */
  triggerKey: string;
  /** The envelope as JSON text. */
  event: string;
}

/** Puts those of the events into the inbox that any active workflow waits for. */
export async function insertArrived(
  queryable: Queryable,
  events: readonly ArrivedEvent[],
): Promise<void> {
  await queryable.query(sql.prepared("inbox_insert", nothing)`
    insert into runs.event_inbox (company_id, event_id, event)
    select arrived.company_id, arrived.event_id, arrived.event::json
    from ${sql.unnest(
      events.map(({ companyId, id, triggerKey, event }) => [companyId, id, triggerKey, event]),
      ["uuid", "text", "text", "text"],
    )} as arrived (company_id, event_id, trigger_key, event)
    where exists (
      select from runs.deployment_heads as head
      where head.company_id = arrived.company_id and head.trigger_key = arrived.trigger_key
        and head.status = 'active'
    )
    on conflict on constraint event_inbox_pkey do nothing
  `);
}

/** The limits of a claim. */
export interface InboxClaim {
  /** How long nobody else claims them, in milliseconds. */
  leaseMs: number;
  /** Companies whose events have to wait. */
  except: readonly string[];
  /** Visits companies after this id; null: from the first one. */
  companiesAfter: string | null;
}

/** An event whose runs are to be started now. */
export interface ClaimedEvent {
  companyId: string;
  eventId: string;
  /** The envelope as JSON text. */
  event: string;
  /** How often starting its runs has failed. */
  attempts: number;
}

/** The result of a claim. */
export interface ClaimedEvents {
  events: readonly ClaimedEvent[];
  /** The company after which the next claim goes on; null: from the first one. */
  lastCompanyId: string | null;
}

const FIRST_COMPANY = "00000000-0000-0000-0000-000000000000";
/** Companies that one claim visits. */
const COMPANIES_MAX = 100;

/**
 * Claims 32 events in turns: the oldest of each company, then the second of each, and so on (D57). It
 * jumps from one company to the next along the index, so the backlog of one costs the others nothing. The
 * order by company, limits that the planner can see and rows locked one by one lead to that plan. It does
 * not depend on the statistics of a queue that has changed since.
 */
export async function claimArrived(
  queryable: Queryable,
  { leaseMs, except, companiesAfter }: InboxClaim,
): Promise<ClaimedEvents> {
  const rows = await queryable.any(sql.prepared("inbox_claim", eventRow)`
    with recursive ${companiesAfterCte(companiesAfter)}, candidate as materialized (
      select company.company_id, due.event_id
      from company
      cross join lateral (
        select event_id, due_at, row_number() over (order by due_at, seq) as turn
        from (
          select event_id, due_at, seq from runs.event_inbox
          where company_id between company.company_id and company.company_id and due_at <= now()
          order by company_id, due_at, seq
          limit 32
        ) as oldest
      ) as due
      where company.company_id <> all(${sql.array([...except], "uuid")})
      order by due.turn, due.due_at, company.company_id
      limit 64
    ), chosen as (
      select locked.company_id, locked.event_id
      from candidate
      cross join lateral (
        select company_id, event_id from runs.event_inbox
        where company_id = candidate.company_id and event_id = candidate.event_id
          and due_at <= now()
        for update skip locked
      ) as locked
      limit 32
    ), claimed as (
      update runs.event_inbox as inbox
      set due_at = now() + ${leaseMs} * interval '1 millisecond'
      from chosen
      where inbox.company_id = chosen.company_id and inbox.event_id = chosen.event_id
      returning inbox.company_id, inbox.event_id, inbox.event, inbox.attempts, inbox.seq
    )
    select company_id as "companyId", event_id as "eventId", event::text as event, attempts,
      null::uuid as "lastCompanyId"
    from claimed
    union all
    select null, '', '', 0, (select company_id from company where number = ${COMPANIES_MAX})
  `);
  return {
    events: rows.flatMap(({ companyId, eventId, event, attempts }) =>
      companyId === null ? [] : [{ companyId, eventId, event, attempts }],
    ),
    lastCompanyId: rows.find((row) => row.companyId === null)?.lastCompanyId ?? null,
  };
}

/** `company (company_id, number)`: the next companies with events, in the order of their ids. */
function companiesAfterCte(companyId: string | null): SqlFragment {
  return sql.fragment`
    company (company_id, number) as (
      (
        select company_id, 1 from runs.event_inbox
        where company_id > ${companyId ?? FIRST_COMPANY}
        order by company_id
        limit 1
      )
      union all
      select next.company_id, company.number + 1
      from company
      cross join lateral (
        select inbox.company_id from runs.event_inbox as inbox
        where inbox.company_id > company.company_id
        order by inbox.company_id
        limit 1
      ) as next
      where company.number < ${COMPANIES_MAX}
    )`;
}

/** Identifies an event in the inbox. */
export type InboxKey = Pick<ClaimedEvent, "companyId" | "eventId">;

/** Deletes events whose runs are stored, or that start none. */
export async function deleteArrived(
  queryable: Queryable,
  events: readonly InboxKey[],
): Promise<void> {
  await queryable.query(sql.prepared("inbox_delete", nothing)`
    delete from runs.event_inbox as inbox
    using ${sql.unnest(
      events.map(({ companyId, eventId }) => [companyId, eventId]),
      ["uuid", "text"],
    )} as done (company_id, event_id)
    where inbox.company_id = done.company_id and inbox.event_id = done.event_id
  `);
}

/** Defers events whose runs could not be started, or must not be yet. */
export async function deferArrived(
  queryable: Queryable,
  events: readonly (InboxKey & { delayMs: number; failed: boolean })[],
): Promise<void> {
  await queryable.query(sql.prepared("inbox_defer", nothing)`
    update runs.event_inbox as inbox
    set due_at = now() + deferred.delay_ms * interval '1 millisecond',
      attempts = inbox.attempts + deferred.failed::integer
    from ${sql.unnest(
      events.map((event) => [event.companyId, event.eventId, event.delayMs, event.failed]),
      ["uuid", "text", "int4", "bool"],
    )} as deferred (company_id, event_id, delay_ms, failed)
    where inbox.company_id = deferred.company_id and inbox.event_id = deferred.event_id
  `);
}
