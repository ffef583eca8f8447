import { firstIdAt, sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { EVENT_ID_PREFIX } from "@workflow/events";
import { z } from "zod";

const auditRow = z.object({
  id: z.string(),
  action: z.string(),
  resourceType: z.string(),
  resourceId: z.string(),
  actorType: z.string(),
  actorId: z.string(),
  actorName: z.string().nullable(),
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
  changesJson: z.string(),
  createdAt: z.date(),
});

/** One change as callers see it. */
export type AuditRow = z.output<typeof auditRow>;

/** The filters of a list; null means any. */
export interface AuditFilter {
  companyId: string;
  action: string | null;
  resourceType: string | null;
  resourceId: string | null;
  actorId: string | null;
  /** Inclusive. */
  from: Date | null;
  /** Exclusive. */
  to: Date | null;
}

/** Greater than every id. */
const LAST_ID = `${EVENT_ID_PREFIX}~`;

/**
 * Changes newest first, starting after the id `after`. An id contains the time of its change, so
 * times are ranges of ids. Each filter alone is a range of an index in this order; of several
 * filters one uses its index and the others skip rows. Measured with 1,000,000 changes of one
 * company (2026-11-21, 2 shared cores, 51 rows, median): no filter 7.5 ms, after a cursor in the
 * middle 2.2 ms, an action 1.6 ms, an action with five changes 0.9 ms, a type 2.0 ms, a resource
 * 1.0 ms, an actor 1.4 ms, a time 1.2 ms, action and actor 2.0 ms. The worst case is two frequent
 * values that never meet: 420 ms.
 */
export async function listAudit(
  queryable: Queryable,
  filter: AuditFilter,
  page: { after: string | null; limit: number },
): Promise<readonly AuditRow[]> {
  const { companyId, from, to } = filter;
  const before = to === null ? LAST_ID : firstIdAt(EVENT_ID_PREFIX, to);
  const end = page.after !== null && page.after < before ? page.after : before;
  // Each set of filters has its own statement: the one plan of `filter is null or …` would suit
  // none.
  const conditions = [
    sql.fragment`company_id = ${companyId}`,
    sql.fragment`event_id < ${end}`,
    ...(from === null ? [] : [sql.fragment`event_id >= ${firstIdAt(EVENT_ID_PREFIX, from)}`]),
    ...equal(sql.fragment`action`, filter.action),
    ...equal(sql.fragment`resource_type`, filter.resourceType),
    ...equal(sql.fragment`resource_id`, filter.resourceId),
    ...equal(sql.fragment`actor_id`, filter.actorId),
  ];
  return queryable.any(sql.type(auditRow)`
    select
      event_id as id,
      action,
      resource_type as "resourceType",
      resource_id as "resourceId",
      actor_type as "actorType",
      actor_id as "actorId",
      actor_name as "actorName",
      ip_address as "ipAddress",
      user_agent as "userAgent",
      request_id as "requestId",
      changes::text as "changesJson",
      created_at as "createdAt"
    from gateway.audit_log
    where ${sql.join(conditions, sql.fragment` and `)}
    order by event_id desc
    limit ${page.limit}
  `);
}

function equal(column: SqlFragment, value: string | null): SqlFragment[] {
  return value === null ? [] : [sql.fragment`${column} = ${value}`];
}
