import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { z } from "zod";
import type { AuditRecord } from "../domain/audit-record.ts";

const nothing = z.object({});
const eventRow = z.object({ companyId: z.string(), eventId: z.string() });
const headRow = z.object({ companyId: z.string(), seq: z.number(), hashHex: z.string() });

/** A record with its position in the chain. */
export interface ChainedRecord {
  record: AuditRecord;
  seq: number;
  prevHash: Buffer;
  hash: Buffer;
}

/**
 * Locks the chains of companies until the transaction ends. Ids come in one order, so that two
 * batches cannot deadlock.
 */
export async function lockChains(
  transaction: Transaction,
  companyIds: readonly string[],
): Promise<void> {
  await transaction.query(sql.prepared("audit_lock", nothing)`
    select from (
      select pg_advisory_xact_lock(hashtextextended('audit ' || company_id, 0))
      from unnest(${sql.array([...companyIds], "text")}) with ordinality as chain (company_id, position)
      order by position
    ) as locked
  `);
}

/** The keys of those records that are stored already. */
export async function listKnown(
  transaction: Transaction,
  records: readonly AuditRecord[],
): Promise<ReadonlySet<string>> {
  const rows = await transaction.any(sql.prepared("audit_known", eventRow)`
    select log.company_id as "companyId", log.event_id as "eventId"
    from unnest(
      ${sql.array(
        records.map(({ companyId }) => companyId),
        "uuid",
      )},
      ${sql.array(
        records.map(({ eventId }) => eventId),
        "text",
      )}
    ) as given (company_id, event_id)
    join gateway.audit_log as log using (company_id, event_id)
  `);
  return new Set(rows.map(placeOf));
}

/** The key of a record: one event may stand in the chains of several companies. */
export function placeOf({
  companyId,
  eventId,
}: Pick<AuditRecord, "companyId" | "eventId">): string {
  return `${companyId} ${eventId}`;
}

/** The last row of each chain, by company; companies without a chain are missing. */
export type Heads = ReadonlyMap<string, { seq: number; hash: Buffer }>;

/** Reads the last rows of companies' chains. */
export async function readHeads(
  transaction: Transaction,
  companyIds: readonly string[],
): Promise<Heads> {
  const rows = await transaction.any(sql.prepared("audit_heads", headRow)`
    select company_id as "companyId", seq, encode(hash, 'hex') as "hashHex"
    from gateway.audit_heads
    where company_id = any(${sql.array([...companyIds], "uuid")})
  `);
  return new Map(
    rows.map(({ companyId, seq, hashHex }) => [
      companyId,
      { seq, hash: Buffer.from(hashHex, "hex") },
    ]),
  );
}

/** Stores records at their positions. */
export async function insertRows(
  transaction: Transaction,
  rows: readonly ChainedRecord[],
): Promise<void> {
  const texts = (valueOf: (record: AuditRecord) => string | null) =>
    sql.array(
      rows.map(({ record }) => valueOf(record)),
      "text",
    );
  await transaction.query(sql.prepared("audit_insert", nothing)`
    insert into gateway.audit_log (
      company_id, seq, event_id, action, resource_type, resource_id, actor_type, actor_id,
      actor_name, ip_address, user_agent, request_id, changes, created_at, prev_hash, hash
    )
    select
      company_id::uuid, seq, event_id, action, resource_type, resource_id, actor_type, actor_id,
      actor_name, ip_address, user_agent, request_id, changes::json, created_at::timestamptz,
      decode(prev_hash, 'hex'), decode(hash, 'hex')
    from unnest(
      ${texts((record) => record.companyId)},
      ${sql.array(
        rows.map(({ seq }) => seq),
        "int8",
      )},
      ${texts((record) => record.eventId)},
      ${texts((record) => record.action)},
      ${texts((record) => record.resourceType)},
      ${texts((record) => record.resourceId)},
      ${texts((record) => record.actorType)},
      ${texts((record) => record.actorId)},
      ${texts((record) => record.actorName)},
      ${texts((record) => record.ipAddress)},
      ${texts((record) => record.userAgent)},
      ${texts((record) => record.requestId)},
      ${texts((record) => record.changes)},
      ${texts((record) => record.createdAt.toISOString())},
      ${sql.array(
        rows.map(({ prevHash }) => prevHash.toString("hex")),
        "text",
      )},
      ${sql.array(
        rows.map(({ hash }) => hash.toString("hex")),
        "text",
      )}
    ) with ordinality as row (
      company_id, seq, event_id, action, resource_type, resource_id, actor_type, actor_id,
      actor_name, ip_address, user_agent, request_id, changes, created_at, prev_hash, hash, position
    )
    order by position
  `);
}
