import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const companyRow = z.object({ companyId: z.string() });
const endRow = z.object({ seq: z.number(), hashHex: z.string() });
const startRow = z.object({ seq: z.number(), hashHex: z.string(), isOverrun: z.boolean() });
const existence = z.object({ exists: z.boolean() });
const chainRow = z.object({
  seq: z.number(),
  companyId: z.string(),
  eventId: z.string(),
  action: z.string(),
  resourceType: z.string(),
  resourceId: z.string(),
  actorType: z.string(),
  actorId: z.string(),
  actorName: z.string().nullable(),
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
  changes: z.string(),
  createdAt: z.date(),
  prevHashHex: z.string(),
  hashHex: z.string(),
});

/** A record with its position in the chain, as stored. */
export type ChainRow = z.output<typeof chainRow>;

/** The last row of a chain, as the head says. */
export type ChainEnd = z.output<typeof endRow>;

/** The last removed row, after which a chain continues. */
export type ChainStart = z.output<typeof startRow>;

/** Every company that has a chain, or should have one. */
export async function listChains(queryable: Queryable): Promise<string[]> {
  const rows = await queryable.any(sql.type(companyRow)`
    select company_id as "companyId" from gateway.audit_heads
    union
    select company_id from gateway.audit_starts
    union
    select company_id from gateway.audit_log
    order by 1
  `);
  return rows.map(({ companyId }) => companyId);
}

/** The end of a company's chain; null when none is stored. */
export function findChainEnd(queryable: Queryable, companyId: string): Promise<ChainEnd | null> {
  return queryable.maybeOne(sql.type(endRow)`
    select seq, encode(hash, 'hex') as "hashHex"
    from gateway.audit_heads
    where company_id = ${companyId}
  `);
}

/** The beginning of a company's chain, and whether rows lie before it. Null: the first row. */
export function findChainStart(
  queryable: Queryable,
  companyId: string,
): Promise<ChainStart | null> {
  return queryable.maybeOne(sql.type(startRow)`
    select seq, encode(hash, 'hex') as "hashHex", exists (
      select from gateway.audit_log as log
      where log.company_id = start.company_id and log.seq <= start.seq
    ) as "isOverrun"
    from gateway.audit_starts as start
    where company_id = ${companyId}
  `);
}

/** Whether there is any row after a position. */
export async function hasRowAfter(
  queryable: Queryable,
  companyId: string,
  seq: number,
): Promise<boolean> {
  const { exists } = await queryable.one(sql.type(existence)`
    select exists (
      select from gateway.audit_log where company_id = ${companyId} and seq > ${seq}
    ) as exists
  `);
  return exists;
}

/** The rows of a chain after `afterSeq` and up to `untilSeq`, in order. */
export function listChainRows(
  queryable: Queryable,
  companyId: string,
  range: { afterSeq: number; untilSeq: number; limit: number },
): Promise<readonly ChainRow[]> {
  return queryable.any(sql.prepared("audit_chain", chainRow)`
    select
      seq,
      company_id as "companyId",
      event_id as "eventId",
      action,
      resource_type as "resourceType",
      resource_id as "resourceId",
      actor_type as "actorType",
      actor_id as "actorId",
      actor_name as "actorName",
      ip_address as "ipAddress",
      user_agent as "userAgent",
      request_id as "requestId",
      changes::text as changes,
      created_at as "createdAt",
      encode(prev_hash, 'hex') as "prevHashHex",
      encode(hash, 'hex') as "hashHex"
    from gateway.audit_log
    where company_id = ${companyId} and seq > ${range.afterSeq} and seq <= ${range.untilSeq}
    order by seq
    limit ${range.limit}
  `);
}
