import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { CONNECTION_STATUSES } from "../domain/connection-states.ts";

const foundRow = z.object({
  connectionId: z.string(),
  companyId: z.string(),
  provider: z.string(),
  externalAccountId: z.string().nullable(),
  status: z.enum(CONNECTION_STATUSES),
});

/** A connection as the routing of events sees it. */
export type FoundConnectionRow = z.output<typeof foundRow>;

/** The limit of companies for one account, however many have connected it. */
const COMPANIES_MAX = 100;

const foundColumns = sql.fragment`
  connection.id as "connectionId",
  connection.company_id as "companyId",
  connection.provider,
  connection.external_account_id as "externalAccountId",
  connection.status
`;

/**
 * The active connections of accounts at a provider, of all companies. Only the oldest one of each
 * company is listed, so that many connections of one company displace no other company. At most 100
 * companies for an account.
 */
export async function listAccountConnections(
  database: Queryable,
  provider: string,
  externalAccountIds: readonly string[],
): Promise<readonly FoundConnectionRow[]> {
  return database.any(sql.prepared("connections_of_accounts", foundRow)`
    select
      found.id as "connectionId",
      found.company_id as "companyId",
      ${provider}::text as "provider",
      wanted.account_id as "externalAccountId",
      'active' as "status"
    from (
      select distinct account_id
      from unnest(${sql.array([...externalAccountIds], "text")}) as given (account_id)
    ) as wanted
    cross join lateral (
      select distinct on (connection.company_id) connection.company_id, connection.id
      from integrations.connections as connection
      where connection.provider = ${provider}
        and connection.external_account_id = wanted.account_id
        and connection.status = 'active'
      order by connection.company_id, connection.id
      limit ${COMPANIES_MAX}::integer
    ) as found
    order by wanted.account_id, found.id
  `);
}

/** The connection of any company that the broker knows under an id; null when there is none. */
export async function findByBrokerId(
  database: Queryable,
  brokerConnectionId: string,
): Promise<FoundConnectionRow | null> {
  return database.maybeOne(sql.prepared("connection_by_broker_id", foundRow)`
    select ${foundColumns}
    from integrations.connections as connection
    where connection.broker_connection_id = ${brokerConnectionId}
  `);
}

/**
 * Records when the broker has synchronised a connection. The time never goes back, and is never in the
 * future.
 */
export async function noteSync(
  database: Queryable,
  { companyId, connectionId }: Pick<FoundConnectionRow, "companyId" | "connectionId">,
  syncedAt: Date | null,
): Promise<void> {
  await database.query(sql.prepared("connection_note_sync", z.object({}))`
    update integrations.connections as connection
    set last_synced_at = greatest(
      connection.last_synced_at,
      least(coalesce(${syncedAt?.toISOString() ?? null}::timestamptz, now()), now())
    )
    where connection.company_id = ${companyId} and connection.id = ${connectionId}
  `);
}
