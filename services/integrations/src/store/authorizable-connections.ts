import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { connectionColumns, connectionRow } from "./connections.ts";
import type { ConnectionRow } from "./connections.ts";

/**
 * The connection of a provider that another authorization would concern; null when there is none. An
 * active one comes before those in error, expired or disconnected, and the most recently changed comes
 * first.
 */
export async function findAuthorizable(
  database: Queryable,
  { companyId, provider }: { companyId: string; provider: string },
): Promise<ConnectionRow | null> {
  return database.maybeOne(sql.prepared("connection_find_authorizable", connectionRow)`
    select ${connectionColumns}
    from integrations.connections as connection
    where connection.company_id = ${companyId}
      and connection.provider = ${provider}
      and connection.status in ('active', 'error', 'expired', 'disconnected')
    order by (connection.status = 'active') desc, connection.updated_at desc, connection.id desc
    limit 1
  `);
}
