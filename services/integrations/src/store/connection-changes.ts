import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import type { ConnectionKey } from "../domain/connection-key.ts";
import { TRANSITIONS } from "../domain/connection-states.ts";
import type { Transition } from "../domain/connection-states.ts";
import type { SealedCredentials } from "../encryption/sealed-credentials.ts";
import { connectionColumns, connectionRow } from "./connections.ts";
import type { ConnectionRow } from "./connections.ts";

/** The known parts of an account at a provider. */
export interface KnownAccount {
  fields: Readonly<Record<string, string>>;
  externalAccountId: string | null;
}

/** The values that change together with the status; undefined ones stay as they are. */
export interface ConnectionChange {
  /** The version that the credentials must have; without it any version is accepted. */
  ifVersion?: number | undefined;
  name?: string | undefined;
  /** The fault in words for people; null, the default, for none. */
  errorMessage?: string | null;
  /** The provider's code of the fault. */
  errorCode?: string | null;
  /** New credentials; null erases the old ones. */
  credentials?: SealedCredentials | null | undefined;
  /** The end of the new credentials. */
  credentialsExpireAt?: Date | null | undefined;
  /** Fields of the same account, which are merged into the stored ones. */
  fields?: Readonly<Record<string, string>> | undefined;
  /** The id of the same account; null when it is no longer known. */
  externalAccountId?: string | null | undefined;
  /** The account of the new credentials; all facts about the former account are deleted. */
  account?: KnownAccount | undefined;
  /** The id at the broker; null when the broker no longer has the connection. */
  brokerConnectionId?: string | null | undefined;
  /** Whether the account was reached just now. */
  synced?: boolean | undefined;
}

/**
 * Moves a connection to another state with one conditional statement. Null when the connection does not
 * exist, has another version, or is in a state from which the transition is not allowed.
 */
export async function changeConnection(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
  transition: Transition,
  change: ConnectionChange = {},
): Promise<ConnectionRow | null> {
  const { from, to } = TRANSITIONS[transition];
  return database.maybeOne(sql.prepared("connection_change", connectionRow)`
    update integrations.connections as connection
    set
      status = ${to},
      name = coalesce(${change.name ?? null}::text, connection.name),
      error_message = ${change.errorMessage ?? null}::text,
      error_code = ${change.errorCode ?? null}::text,
      ${setAccess(change)},
      ${setAccount(change)},
      updated_at = clock_timestamp()
    where connection.company_id = ${companyId}
      and connection.id = ${connectionId}
      and connection.status = any(${sql.array(from, "text")})
      and connection.credentials_version =
        coalesce(${change.ifVersion ?? null}::integer, connection.credentials_version)
    returning ${connectionColumns}
  `);
}

/** The columns of the credentials; new access has no renewal in progress. */
function setAccess(change: ConnectionChange) {
  const { credentials } = change;
  const isNewAccess = credentials !== undefined || fieldsOf(change) !== undefined;
  return sql.fragment`
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
    renew_after = case when ${isNewAccess}::boolean then null else connection.renew_after end
  `;
}

/** The columns of the account. */
function setAccount(change: ConnectionChange) {
  const { account } = change;
  const fields = fieldsOf(change);
  const accountId = account === undefined ? change.externalAccountId : account.externalAccountId;
  return sql.fragment`
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
    end
  `;
}

function fieldsOf({ account, fields }: ConnectionChange) {
  return account?.fields ?? fields;
}

/** Deletes a connection; null when there is none of this version. */
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
