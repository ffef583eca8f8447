import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import type { ConnectionKey } from "../domain/connection-key.ts";
import { TRANSITIONS } from "../domain/connection-states.ts";
import type { Transition } from "../domain/connection-states.ts";
import type { SealedCredentials } from "../encryption/sealed-credentials.ts";
import { connectionColumns, connectionRow } from "./connections.ts";
import type { ConnectionRow } from "./connections.ts";

/** An account at a provider, as far as it is known. */
export interface KnownAccount {
  fields: Readonly<Record<string, string>>;
  externalAccountId: string | null;
}

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
  /** Of the same account as before: merged into what is there. */
  fields?: Readonly<Record<string, string>> | undefined;
  /** Of the same account as before; null: it is not known any more. */
  externalAccountId?: string | null | undefined;
  /** What is known of the account that new credentials open: nothing of the one before it stays. */
  account?: KnownAccount | undefined;
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
  const { credentials, account } = change;
  const fields = account?.fields ?? change.fields;
  const accountId = account === undefined ? change.externalAccountId : account.externalAccountId;
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
      fields = case
        when ${account === undefined}::boolean
          then connection.fields || ${JSON.stringify(fields ?? {})}::jsonb
        else ${JSON.stringify(fields ?? {})}::jsonb
      end,
      external_account_id = case
        when ${accountId === undefined}::boolean then connection.external_account_id
        else ${accountId ?? null}::text
      end,
      broker_connection_id = case
        when ${change.brokerConnectionId === undefined}::boolean then connection.broker_connection_id
        else ${change.brokerConnectionId ?? null}::text
      end,
      last_synced_at = case
        when ${change.synced === true}::boolean then clock_timestamp()
        else connection.last_synced_at
      end,
      subscribe_after = case
        when ${account === undefined}::boolean then connection.subscribe_after
      end,
      subscription_failures = case
        when ${account === undefined}::boolean then connection.subscription_failures else 0
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
