import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const candidateRow = z.object({ id: z.string(), name: z.string() });
const providerRow = z.object({ provider: z.string(), active: z.int() });
const idRow = z.object({ id: z.string() });

/** A connection that a step could mean. */
export type ConnectionCandidate = z.output<typeof candidateRow>;

/** Up to `limit` active connections of a provider, the oldest first. */
export async function listActiveConnections(
  database: Queryable,
  { companyId, provider }: { companyId: string; provider: string },
  limit: number,
): Promise<readonly ConnectionCandidate[]> {
  return database.any(sql.prepared("connections_active", candidateRow)`
    select id, name
    from integrations.connections
    where company_id = ${companyId} and provider = ${provider} and status = 'active'
    order by id
    limit ${limit}
  `);
}

/**
 * The number of a company's active connections of each of these providers; providers without any are
 * missing.
 */
export async function countActiveByProvider(
  database: Queryable,
  companyId: string,
  providers: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.any(sql.prepared("connections_active_providers", providerRow)`
    select provider, count(*)::integer as active
    from integrations.connections
    where company_id = ${companyId} and provider = any(${sql.array([...providers], "text")})
      and status = 'active'
    group by provider
  `);
  return new Map(rows.map(({ provider, active }) => [provider, active]));
}

/** Those of these ids that are active connections of the company. */
export async function listActiveIds(
  database: Queryable,
  companyId: string,
  connectionIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await database.any(sql.prepared("connections_active_ids", idRow)`
    select id
    from integrations.connections
    where company_id = ${companyId} and id = any(${sql.array([...connectionIds], "text")})
      and status = 'active'
  `);
  return rows.map(({ id }) => id);
}
