import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";

const acquiredRow = z.object({ acquired: z.boolean() });
const chainRow = z.object({ companyId: z.string(), isDue: z.boolean() });
const removedRow = z.object({ removed: z.number() });

/** Tries to become the one gateway that removes rows, until the transaction ends. */
export async function tryLockTrim(transaction: Transaction): Promise<boolean> {
  const { acquired } = await transaction.one(sql.type(acquiredRow)`
    select pg_try_advisory_xact_lock(hashtextextended('audit trim', 0)) as acquired
  `);
  return acquired;
}

/** A chain, and whether its first row is old enough to remove. */
export type FirstRow = z.output<typeof chainRow>;

/**
 * The next chains after a company (null: the first ones), and whether the first row of each is
 * older than `horizon`.
 */
export function listFirstRows(
  queryable: Queryable,
  { after, limit, horizon }: { after: string | null; limit: number; horizon: Date },
): Promise<readonly FirstRow[]> {
  return queryable.any(sql.prepared("audit_first_rows", chainRow)`
    select chain.company_id as "companyId",
      coalesce(first.created_at < ${horizon.toISOString()}::timestamptz, false) as "isDue"
    from (
      select company_id from gateway.audit_heads
      where ${after}::uuid is null or company_id > ${after}::uuid order by company_id limit ${limit}
    ) as chain
    left join lateral (
      select created_at from gateway.audit_log
      where company_id = chain.company_id order by seq limit 1
    ) as first on true
    order by chain.company_id
  `);
}

/**
 * Removes the rows of a chain up to a row, which becomes the chain's start.
 *
 * @returns the number of removed rows
 */
export async function trimChain(
  transaction: Transaction,
  companyId: string,
  untilSeq: number,
): Promise<number> {
  const { removed } = await transaction.one(sql.prepared("audit_trim", removedRow)`
    select gateway.trim_audit_chain(${companyId}::uuid, ${untilSeq}::bigint) as removed
  `);
  return removed;
}
