import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const dueRow = z.object({ companyId: z.string(), connectionId: z.string(), provider: z.string() });
const nothing = z.object({});

/** A connection whose provider must be asked to send its events. */
export type DueSubscription = z.output<typeof dueRow>;

/** The number of rows that one poll scans; a company has at most 1,000 live ones. */
const SCANNED_MAX = 5_000;

/**
 * Claims connections whose providers must be asked to send events now, for `leaseMs`. They are of all
 * companies, and at most `perCompany` of each. Each company's first connection comes before anybody's
 * second.
 */
export async function claimSubscriptions(
  database: Queryable,
  providers: readonly string[],
  turn: { limit: number; perCompany: number; leaseMs: number },
): Promise<readonly DueSubscription[]> {
  const { limit, perCompany, leaseMs } = turn;
  return database.any(sql.prepared("subscriptions_claim", dueRow)`
    with looked_at as (
      select
        connection.id, connection.company_id,
        coalesce(connection.subscribe_after, '-infinity') as due_at
      from integrations.connections as connection
      where connection.provider = any(${sql.array([...providers], "text")})
        and connection.status = 'active'
        and coalesce(connection.subscribe_after, '-infinity') <= clock_timestamp()
      order by coalesce(connection.subscribe_after, '-infinity')
      limit ${SCANNED_MAX}::integer
    ),
    placed as (
      select
        looked_at.id, looked_at.due_at,
        row_number() over (partition by looked_at.company_id order by looked_at.due_at) as place
      from looked_at
    ),
    chosen as (
      select placed.id
      from placed
      where placed.place <= ${perCompany}::integer
      order by placed.place, placed.due_at
      limit ${limit}::integer
    )
    update integrations.connections as connection
    set subscribe_after = clock_timestamp() + ${leaseMs}::integer * interval '1 millisecond'
    from chosen
    where connection.id = chosen.id
      and connection.status = 'active'
      and coalesce(connection.subscribe_after, '-infinity') <= clock_timestamp()
    returning
      connection.company_id as "companyId", connection.id as "connectionId", connection.provider
  `);
}

/** Records that a provider sends the events of a connection; it is asked again after a while. */
export async function noteSubscribed(
  database: Queryable,
  { companyId, connectionId }: DueSubscription,
  renewAfterMs: number,
): Promise<void> {
  await database.query(sql.prepared("subscription_note", nothing)`
    update integrations.connections as connection
    set
      subscribe_after = clock_timestamp() + ${renewAfterMs}::integer * interval '1 millisecond',
      subscription_failures = 0,
      subscription_error = null
    where connection.company_id = ${companyId} and connection.id = ${connectionId}
      and connection.subscribe_after is not null
  `);
}

/** Records that a provider has refused or failed; it is asked again after a pause that doubles each time. */
export async function noteSubscriptionFailure(
  database: Queryable,
  { companyId, connectionId }: DueSubscription,
  error: string,
  pauses: { firstMs: number; longestMs: number },
): Promise<void> {
  await database.query(sql.prepared("subscription_note_failure", nothing)`
    update integrations.connections as connection
    set
      subscribe_after = clock_timestamp() + interval '1 millisecond' * least(
        ${pauses.longestMs}::float8,
        ${pauses.firstMs}::float8 * power(2, connection.subscription_failures)
      ),
      subscription_failures = least(connection.subscription_failures + 1, 100),
      subscription_error = ${error}
    where connection.company_id = ${companyId} and connection.id = ${connectionId}
      and connection.subscribe_after is not null
  `);
}
