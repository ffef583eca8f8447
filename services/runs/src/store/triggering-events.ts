import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const idRow = z.object({ eventId: z.string() });
const waitingRow = z.object({ workflowId: z.string(), deploymentId: z.string() });
const startedRuns = z.array(z.object({ workflowId: z.string(), runId: z.string() }));
const startedRow = z.object({ started: startedRuns });
const waitingForRow = z.object({ key: z.string(), deploymentIds: z.array(z.string()) });
const startedByRow = z.object({ place: z.number(), started: startedRuns });
const causeRow = z.object({ triggerDepth: z.number(), rootRunId: z.string() });

/** The runs that an event has started. */
export type StartedRuns = z.infer<typeof startedRuns>;

/** An event that starts runs once. */
export interface EventKey {
  companyId: string;
  eventId: string;
}

const RETENTION = sql.fragment`interval '8 days'`;

/** The active workflows that wait for a trigger key. */
export async function listWaiting(queryable: Queryable, companyId: string, triggerKey: string) {
  return queryable.any(sql.prepared("heads_waiting", waitingRow)`
    select workflow_id as "workflowId", deployment_id as "deploymentId" from runs.deployment_heads
    where company_id = ${companyId} and trigger_key = ${triggerKey} and status = 'active'
    order by workflow_id
  `);
}

/** A trigger key of a company. */
export interface WaitedFor {
  companyId: string;
  triggerKey: string;
}

/**
 * The deployments of active workflows that wait for each of several things, at most `limit` each, in the
 * order of their workflows' ids. Things for which none waits are left out.
 *
 * @param things by any keys, which the answer repeats
 */
export async function listWaitingForEach(
  queryable: Queryable,
  things: ReadonlyMap<string, WaitedFor>,
  limit: number,
): Promise<Map<string, readonly string[]>> {
  const rows = await queryable.any(sql.prepared("heads_waiting_for_each", waitingForRow)`
    select asked.key, waiting.ids as "deploymentIds"
    from ${sql.unnest(
      Array.from(things, ([key, { companyId, triggerKey }]) => [key, companyId, triggerKey]),
      ["text", "uuid", "text"],
    )} as asked (key, company_id, trigger_key)
    cross join lateral (
      select array_agg(head.deployment_id order by head.workflow_id) as ids
      from (
        select workflow_id, deployment_id from runs.deployment_heads
        where company_id = asked.company_id and trigger_key = asked.trigger_key
          and status = 'active'
        limit ${limit}
      ) as head
    ) as waiting
    where waiting.ids is not null
  `);
  return new Map(rows.map(({ key, deploymentIds }) => [key, deploymentIds]));
}

/**
 * Claims an event for the runs that it starts, and returns whether that worked: it has not when the event
 * has started its runs before. A second caller waits here for the first one's transaction to end.
 */
export async function claimEvent(
  transaction: Transaction,
  { companyId, eventId }: EventKey,
  started: StartedRuns,
): Promise<boolean> {
  const row = await transaction.maybeOne(sql.prepared("event_claim", idRow)`
    insert into runs.triggering_events (company_id, event_id, started)
    values (${companyId}, ${eventId}, ${JSON.stringify(started)}::json)
    on conflict on constraint triggering_events_pkey do nothing
    returning event_id as "eventId"
  `);
  return row !== null;
}

/** The runs that an event started when it was claimed before. */
export async function getStarted(
  queryable: Queryable,
  { companyId, eventId }: EventKey,
): Promise<StartedRuns> {
  const row = await queryable.one(sql.type(startedRow)`
    select started from runs.triggering_events
    where company_id = ${companyId} and event_id = ${eventId}
  `);
  return row.started;
}

/** The runs that those of several events started that were claimed before, by the events' positions. */
export async function listStarted(
  queryable: Queryable,
  events: readonly EventKey[],
): Promise<Map<number, StartedRuns>> {
  const rows = await queryable.any(sql.prepared("events_started", startedByRow)`
    select asked.place, event.started
    from ${sql.unnest(
      events.map(({ companyId, eventId }, place) => [place, companyId, eventId]),
      ["int4", "uuid", "text"],
    )} as asked (place, company_id, event_id)
    join runs.triggering_events as event
      on event.company_id = asked.company_id and event.event_id = asked.event_id
  `);
  return new Map(rows.map(({ place, started }) => [place, started]));
}

/** The run that caused an event. */
export interface Cause {
  /** The length of the chain of runs that started one another by their writes, down to the run. */
  triggerDepth: number;
  /** The first run of that row; the run itself when none led to it. */
  rootRunId: string;
}

/** A run that has caused an event; null when the company has no such run. */
export async function findCause(
  queryable: Queryable,
  companyId: string,
  runId: string,
): Promise<Cause | null> {
  return queryable.maybeOne(sql.prepared("run_cause", causeRow)`
    select trigger_depth as "triggerDepth", coalesce(root_run_id, id) as "rootRunId"
    from runs.runs where id = ${runId} and company_id = ${companyId}
  `);
}

/**
 * Deletes up to `limit` events that no bus delivers again (it keeps them for 7 days); returns how many.
 */
export async function deleteOldEvents(queryable: Queryable, limit: number): Promise<number> {
  const result = await queryable.query(sql.type(nothing)`
    delete from runs.triggering_events
    where (company_id, event_id) in (
      select company_id, event_id from runs.triggering_events
      where created_at <= now() - ${RETENTION}
      order by created_at
      limit ${limit}
    )
  `);
  return result.rowCount;
}
