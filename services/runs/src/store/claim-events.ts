import { sql } from "@workflow/db";
import type { SqlFragment } from "@workflow/db";

/** An event that starts runs, all of them or none. */
export interface EventClaim {
  companyId: string;
  eventId: string;
  /** The runs that the event starts; the same statement stores them. */
  runIds: readonly string[];
}

/**
 * Claims events all of whose runs are in `wanted (id, workflow_id)`, unless they were claimed before: a
 * CTE and its helper. A second caller waits here for the first one's transaction to end. All claim in one
 * order, so that two never wait for each other.
 */
export function claimedEventsCte(claims: readonly EventClaim[]): SqlFragment {
  const rows = claims.flatMap(({ companyId, eventId, runIds }) =>
    runIds.map((runId) => [companyId, eventId, runId]),
  );
  return sql.fragment`
    claim as (
      select * from ${sql.unnest(rows, ["uuid", "text", "text"])}
        as claim (company_id, event_id, run_id)
    ), taken_events as (
      insert into runs.triggering_events (company_id, event_id, started)
      select claim.company_id, claim.event_id, json_agg(
        json_build_object('workflowId', wanted.workflow_id, 'runId', wanted.id)
        order by wanted.workflow_id
      )
      from claim
      left join wanted on wanted.id = claim.run_id
      group by claim.company_id, claim.event_id
      having count(*) = count(wanted.id)
      order by claim.company_id, claim.event_id collate "C"
      on conflict on constraint triggering_events_pkey do nothing
      returning company_id, event_id
    )`;
}

/** The wanted runs whose event was claimed for them. */
export const ONCE_PER_EVENT = sql.fragment`
  and id in (
    select claim.run_id from claim
    join taken_events as taken
      on taken.company_id = claim.company_id and taken.event_id = claim.event_id
  )`;
