import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { ConnectionKey } from "../domain/connection-key.ts";

const claimedRow = z.object({ lease: z.string() });
const pausedRow = z.object({ paused: z.boolean() });

/**
 * `taken`: another process renews the credentials, or they have changed. `paused`: a renewal failed not
 * long ago.
 */
export type RefreshClaim =
  { is: "claimed"; lease: RefreshLease } | { is: "taken" } | { is: "paused" };

/**
 * The right to renew credentials of one version, until a time that also identifies the lease: no two
 * leases have the same.
 */
export interface RefreshLease {
  version: number;
  until: string;
}

/**
 * Claims the renewal of this version's credentials for a time.
 *
 * @param isForced whether to ignore pauses after failures
 */
export async function claimRefresh(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
  { version, leaseMs, isForced }: { version: number; leaseMs: number; isForced: boolean },
): Promise<RefreshClaim> {
  const claimed = await database.maybeOne(sql.prepared("connection_claim_refresh", claimedRow)`
    update integrations.connections as connection
    set refreshing_until = clock_timestamp() + ${leaseMs}::integer * interval '1 millisecond'
    where connection.company_id = ${companyId}
      and connection.id = ${connectionId}
      and connection.credentials_version = ${version}
      and (
        connection.refreshing_until is null or connection.refreshing_until < clock_timestamp()
      )
      and (
        ${isForced}::boolean
        or connection.renew_after is null
        or connection.renew_after <= clock_timestamp()
      )
    returning connection.refreshing_until::text as "lease"
  `);
  if (claimed !== null) return { is: "claimed", lease: { version, until: claimed.lease } };
  const refused = await database.maybeOne(sql.prepared("connection_refresh_paused", pausedRow)`
    select coalesce(connection.renew_after > clock_timestamp(), false) as "paused"
    from integrations.connections as connection
    where connection.company_id = ${companyId}
      and connection.id = ${connectionId}
      and connection.credentials_version = ${version}
      and (
        connection.refreshing_until is null or connection.refreshing_until < clock_timestamp()
      )
  `);
  return { is: refused?.paused === true && !isForced ? "paused" : "taken" };
}

/** The pause after the first failure, and the longest one, in milliseconds. */
export interface RenewalPauses {
  firstMs: number;
  longestMs: number;
}

/**
 * Releases the claim after a failure; a lease that has ended and was claimed by another process stays.
 * Each failure in a row doubles the pause before the next try. A random part separates renewals that
 * failed together.
 */
export async function releaseRefresh(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
  { version, until }: RefreshLease,
  { firstMs, longestMs }: RenewalPauses,
): Promise<void> {
  await database.query(sql.prepared("connection_release_refresh", z.object({}))`
    update integrations.connections as connection
    set
      refreshing_until = null,
      renewal_failures = least(connection.renewal_failures + 1, 100),
      renew_after = clock_timestamp()
        + least(
            ${firstMs}::float8 * power(2, least(connection.renewal_failures, 30)),
            ${longestMs}::float8
          ) * (0.75 + 0.5 * random()) * interval '1 millisecond'
    where connection.company_id = ${companyId}
      and connection.id = ${connectionId}
      and connection.credentials_version = ${version}
      and connection.refreshing_until = ${until}::timestamptz
  `);
}

/** Postpones the renewal of credentials without a try; pauses and leases stay. */
export async function postponeRenewal(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
  pauseMs: number,
): Promise<void> {
  await database.query(sql.prepared("connection_postpone_renewal", z.object({}))`
    update integrations.connections as connection
    set renew_after = clock_timestamp() + ${pauseMs}::integer * interval '1 millisecond'
    where connection.company_id = ${companyId}
      and connection.id = ${connectionId}
      and (connection.renew_after is null or connection.renew_after <= clock_timestamp())
      and (
        connection.refreshing_until is null or connection.refreshing_until < clock_timestamp()
      )
  `);
}

/**
 * Our own code for an error that the background renewal may fix. The query and its index repeat the
 * text, because Postgres uses a partial index only for the same constant.
 */
export const NOT_RENEWED = "not_renewed";

const endingRow = z.object({
  companyId: z.string(),
  connectionId: z.string(),
  version: z.number(),
});

/** A connection whose credentials of this version need a renewal. */
export type EndingConnection = z.output<typeof endingRow>;

/**
 * Connections to renew, of all companies and at most `perCompany` of each. They are active connections
 * whose credentials are about to end, and connections in error since a caller's renewal got no answer.
 * An active connection is due at its own moment within the last `aheadMs`, or the last third of a
 * shorter life, so that connections which began together are renewed apart. Credentials younger than
 * `restMs` are left out. Each company's first connection comes before anybody's second.
 */
export async function listEndingConnections(
  database: Queryable,
  turn: { aheadMs: number; restMs: number; limit: number; perCompany: number },
): Promise<readonly EndingConnection[]> {
  const { aheadMs, restMs, limit, perCompany } = turn;
  return database.any(sql.prepared("connections_ending", endingRow)`
    select
      turn.company_id as "companyId", turn.id as "connectionId",
      turn.credentials_version as "version"
    from (
      select
        connection.company_id, connection.id, connection.credentials_expire_at,
        connection.credentials_version,
        row_number() over (
          partition by connection.company_id order by connection.credentials_expire_at
        ) as place
      from integrations.connections as connection
      where (
          (connection.status = 'error' and connection.error_code = 'not_renewed')
          or (
            connection.status = 'active'
            and connection.credentials_expire_at is not null
            and coalesce(connection.credentials_changed_at, connection.created_at)
              <= clock_timestamp() - ${restMs}::integer * interval '1 millisecond'
            and connection.credentials_expire_at
              <= clock_timestamp() + ${aheadMs}::integer * interval '1 millisecond'
            and connection.credentials_expire_at
              - least(
                  ${aheadMs}::integer * interval '1 millisecond',
                  (
                    connection.credentials_expire_at
                      - coalesce(connection.credentials_changed_at, connection.created_at)
                  ) / 3
                ) * (0.5 + (hashtext(connection.id) & 1023) / 2048.0)
              <= clock_timestamp()
          )
        )
        and (connection.renew_after is null or connection.renew_after <= clock_timestamp())
        and (
          connection.refreshing_until is null or connection.refreshing_until < clock_timestamp()
        )
    ) as turn
    where turn.place <= ${perCompany}::integer
    order by turn.place, turn.credentials_expire_at
    limit ${limit}::integer
  `);
}
