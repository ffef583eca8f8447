import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";
import { countEndpointsOf } from "./endpoint-counts.ts";

const claimedRow = z.object({
  /** Null in the one row that describes the claim itself. */
  id: z.string().nullable(),
  companyId: z.string().nullable(),
  envelope: z.string().nullable(),
  attempts: z.number().nullable(),
  lastCompanyId: z.string().nullable(),
});

/** The limits of a claim. */
export interface EventClaim {
  /** The time for which nobody else may claim the events, in milliseconds. */
  leaseMs: number;
  /** The limit of the claimed events' endpoints together. The event that reaches the limit is the last one. */
  targetsMax: number;
  /** Companies whose events have to wait. */
  except: readonly string[];
  /** Visits companies after this id; null: from the first one. */
  companiesAfter: string | null;
}

/** An event whose deliveries are to be made now. */
export interface ClaimedEvent {
  id: string;
  companyId: string;
  /** JSON text. */
  envelope: string;
  /** The number of failed tries to make the deliveries. */
  attempts: number;
}

/** The result of a claim. */
export interface EventsClaimed {
  events: readonly ClaimedEvent[];
  /** The company after which the next claim goes on; null: from the first one. */
  lastCompanyId: string | null;
}

const FIRST_COMPANY = "00000000-0000-0000-0000-000000000000";
/** The number of companies that one claim visits. */
const COMPANIES_MAX = 100;
/** The limit of one claim's events. */
const CLAIMED_EVENTS_MAX = 64;

/**
 * Claims events in turns: the oldest of each company, then the second of each, and so on (D57). It jumps from one
 * company to the next along the index, so the backlog of one costs the others nothing.
 */
export async function claimEvents(
  queryable: Queryable,
  { leaseMs, targetsMax, except, companiesAfter }: EventClaim,
): Promise<EventsClaimed> {
  const rows = await queryable.any(sql.prepared("outbound_events_claim", claimedRow)`
    with recursive ${companiesAfterCte(companiesAfter)}, ${candidateCte(except)},
    size as materialized (
      select asked.company_id, counted.endpoints
      from (select distinct company_id from candidate) as asked
      cross join lateral (${countEndpointsOf(sql.fragment`asked.company_id`)}) as counted
    ), within_round as materialized (
      select candidate.id,
        sum(size.endpoints) over (order by candidate.place) - size.endpoints as earlier
      from candidate
      join size on size.company_id = candidate.company_id
    ), chosen as (
      select locked.id
      from within_round
      cross join lateral (
        select id from webhooks.outbound_events
        where id = within_round.id and due_at <= now()
        for update skip locked
      ) as locked
      where within_round.earlier < ${targetsMax}
    ), claimed as (
      update webhooks.outbound_events as event
      set due_at = now() + ${leaseMs} * interval '1 millisecond'
      from chosen
      where event.id = chosen.id
      returning event.id, event.company_id, event.envelope, event.attempts
    )
    select id, company_id as "companyId", envelope::text as envelope, attempts,
      null::uuid as "lastCompanyId"
    from claimed
    union all
    select null, null, null, null,
      (select company_id from company where number = ${COMPANIES_MAX})
  `);
  return {
    events: rows.flatMap(({ id, companyId, envelope, attempts }) =>
      id === null || companyId === null || envelope === null
        ? []
        : [{ id, companyId, envelope, attempts: attempts ?? 0 }],
    ),
    lastCompanyId: rows.find(({ id }) => id === null)?.lastCompanyId ?? null,
  };
}

/** `company (company_id, number)`: the next companies with waiting events, in the order of their ids. */
function companiesAfterCte(companyId: string | null): SqlFragment {
  return sql.fragment`
    company (company_id, number) as (
      (
        select company_id, 1 from webhooks.outbound_events
        where company_id > ${companyId ?? FIRST_COMPANY} and due_at is not null
        order by company_id
        limit 1
      )
      union all
      select next.company_id, company.number + 1
      from company
      cross join lateral (
        select event.company_id from webhooks.outbound_events as event
        where event.company_id > company.company_id and event.due_at is not null
        order by event.company_id
        limit 1
      ) as next
      where company.number < ${COMPANIES_MAX}
    )
  `;
}

/** `candidate (company_id, id, place)`: the oldest due events of these companies, in turns. */
function candidateCte(except: readonly string[]): SqlFragment {
  return sql.fragment`
    candidate as materialized (
      select company.company_id, due.id,
        row_number() over (order by due.turn, due.due_at, company.company_id) as place
      from company
      cross join lateral (
        select id, due_at, row_number() over (order by due_at, id) as turn
        from (
          select id, due_at from webhooks.outbound_events
          where company_id between company.company_id and company.company_id and due_at <= now()
          order by company_id, due_at, id
          limit ${CLAIMED_EVENTS_MAX}
        ) as oldest
      ) as due
      where company.company_id <> all(${sql.array([...except], "uuid")})
      order by place
      limit ${CLAIMED_EVENTS_MAX}
    )
  `;
}
