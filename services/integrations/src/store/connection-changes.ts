import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { ConnectionKey } from "../connections/connection-key.ts";
import { TRANSITIONS } from "../connections/states.ts";
import type { Transition } from "../connections/states.ts";
import type { SealedCredentials } from "../encryption/sealed-credentials.ts";
import { connectionColumns, connectionRow } from "./connections.ts";
import type { ConnectionRow } from "./connections.ts";

/** What changes together with the status. What is undefined stays as it is. */
export interface ConnectionChange {
  /** The transition is refused when the credentials are not of this version any more. */
  ifVersion?: number | undefined;
  name?: string | undefined;
  /** What is wrong, for people; null (the default) when nothing is. */
  errorMessage?: string | null;
  /** The provider's code of it. */
  errorCode?: string | null;
  /** Null erases them. */
  credentials?: SealedCredentials | null | undefined;
  /** Belongs to `credentials`. */
  credentialsExpireAt?: Date | null | undefined;
  /** Merged into what is there. */
  fields?: Readonly<Record<string, string>> | undefined;
  externalAccountId?: string | undefined;
  /** Null: the broker has it no more. */
  brokerConnectionId?: string | null | undefined;
  /** The account has just been reached. */
  synced?: boolean | undefined;
}

/**
 * Takes a connection into another state, by one conditional statement; null when it is in none of the
 * states that the transition begins in, is of another version, or is not there.
 */
export async function changeConnection(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
  transition: Transition,
  change: ConnectionChange = {},
): Promise<ConnectionRow | null> {
  const { from, to } = TRANSITIONS[transition];
  const { credentials, fields } = change;
  const isNewAccess = credentials !== undefined || fields !== undefined;
  return database.maybeOne(sql.prepared("connection_change", connectionRow)`
    update integrations.connections as connection
    set
      status = ${to},
      name = coalesce(${change.name ?? null}::text, connection.name),
      error_message = ${change.errorMessage ?? null}::text,
      error_code = ${change.errorCode ?? null}::text,
      company_key_id = case
        when ${credentials === undefined}::boolean then connection.company_key_id
        else ${credentials?.companyKeyId ?? null}::uuid
      end,
      sealed_credentials = case
        when ${credentials === undefined}::boolean then connection.sealed_credentials
        else decode(${credentials?.sealed.toString("hex") ?? null}::text, 'hex')
      end,
      credentials_changed_at = case
        when ${credentials === undefined}::boolean then connection.credentials_changed_at
        else clock_timestamp()
      end,
      credentials_expire_at = case
        when ${credentials === undefined}::boolean then connection.credentials_expire_at
        else ${change.credentialsExpireAt?.toISOString() ?? null}::timestamptz
      end,
      credentials_version = connection.credentials_version + ${isNewAccess ? 1 : 0}::integer,
      refreshing_until = case
        when ${isNewAccess}::boolean then null else connection.refreshing_until
      end,
      renewal_failures = case
        when ${isNewAccess}::boolean then 0 else connection.renewal_failures
      end,
      renew_after = case when ${isNewAccess}::boolean then null else connection.renew_after end,
      fields = connection.fields || ${JSON.stringify(fields ?? {})}::jsonb,
      external_account_id =
        coalesce(${change.externalAccountId ?? null}::text, connection.external_account_id),
      broker_connection_id = case
        when ${change.brokerConnectionId === undefined}::boolean then connection.broker_connection_id
        else ${change.brokerConnectionId ?? null}::text
      end,
      last_synced_at = case
        when ${change.synced === true}::boolean then clock_timestamp()
        else connection.last_synced_at
      end,
      updated_at = clock_timestamp()
    where connection.company_id = ${companyId}
      and connection.id = ${connectionId}
      and connection.status = any(${sql.array(from, "text")})
      and connection.credentials_version =
        coalesce(${change.ifVersion ?? null}::integer, connection.credentials_version)
    returning ${connectionColumns}
  `);
}

/** Removes a connection, unless it is of another version by now; null when there is none. */
export async function deleteConnection(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
  ifVersion: number,
): Promise<ConnectionRow | null> {
  return database.maybeOne(sql.prepared("connection_delete", connectionRow)`
    delete from integrations.connections as connection
    where connection.company_id = ${companyId}
      and connection.id = ${connectionId}
      and connection.credentials_version = ${ifVersion}
    returning ${connectionColumns}
  `);
}

const claimedRow = z.object({ id: z.string() });
const pausedRow = z.object({ paused: z.boolean() });

/** `taken`: somebody else renews them, or they are others by now. `paused`: it failed not long ago. */
export type RefreshClaim = "claimed" | "taken" | "paused";

/**
 * Takes the right to renew the credentials of this version, for a time.
 *
 * @param isForced whether pauses after failures do not count
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
    returning connection.id
  `);
  if (claimed !== null) return "claimed";
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
  return refused?.paused === true && !isForced ? "paused" : "taken";
}

/** The pause after the first failure, and the longest one, in milliseconds. */
export interface RenewalPauses {
  firstMs: number;
  longestMs: number;
}

/**
 * Gives the right back when nothing came of it. Each failure in a row doubles the pause before the next
 * try; a random part keeps those apart that failed together.
 */
export async function releaseRefresh(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
  version: number,
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
  `);
}

/** Does not renew credentials for a time that nobody has tried to renew; pauses and leases stay. */
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

const endingRow = z.object({
  companyId: z.string(),
  connectionId: z.string(),
  version: z.number(),
});

/** A connection whose credentials, of this version, are about to end. */
export type EndingConnection = z.output<typeof endingRow>;

/**
 * Active connections whose credentials are about to end, of all companies and at most `perCompany` of
 * each. Each has a moment of its own within the last `aheadMs`, or the last third of the credentials'
 * life when that is shorter: those that began together are not renewed together.
 */
export async function listEndingConnections(
  database: Queryable,
  { aheadMs, limit, perCompany }: { aheadMs: number; limit: number; perCompany: number },
): Promise<readonly EndingConnection[]> {
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
      where connection.status = 'active'
        and connection.credentials_expire_at is not null
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
        and (connection.renew_after is null or connection.renew_after <= clock_timestamp())
        and (
          connection.refreshing_until is null or connection.refreshing_until < clock_timestamp()
        )
    ) as turn
    where turn.place <= ${perCompany}::integer
    order by turn.credentials_expire_at
    limit ${limit}::integer
  `);
}
