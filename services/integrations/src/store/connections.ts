import { constraintOf, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import type { ConnectionKey } from "../domain/connection-key.ts";
import { CONNECTION_STATUSES, LIVE_STATUSES } from "../domain/connection-states.ts";
import type { ConnectionStatus } from "../domain/connection-states.ts";
import type { SealedCredentials } from "../encryption/sealed-credentials.ts";

const fieldsText = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(z.record(z.string(), z.string()));

/** A connection without its credentials. */
export const connectionRow = z.object({
  id: z.string(),
  companyId: z.string(),
  name: z.string(),
  provider: z.string(),
  status: z.enum(CONNECTION_STATUSES),
  externalAccountId: z.string().nullable(),
  fields: fieldsText,
  errorMessage: z.string().nullable(),
  errorCode: z.string().nullable(),
  credentialsVersion: z.number(),
  credentialsChangedAt: z.date().nullable(),
  credentialsExpireAt: z.date().nullable(),
  brokerConnectionId: z.string().nullable(),
  lastSyncedAt: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
const connectionWithMetadataRow = connectionRow.extend({ metadataJson: z.string().nullable() });
const nothing = z.object({});

/** A connection without its credentials. */
export type ConnectionRow = z.output<typeof connectionRow>;

/** A connection with the caller's JSON text. */
export type ConnectionWithMetadataRow = z.output<typeof connectionWithMetadataRow>;

/** The columns of `connectionRow`, of a table with the alias `connection`. */
export const connectionColumns = sql.fragment`
  connection.id,
  connection.company_id as "companyId",
  connection.name,
  connection.provider,
  connection.status,
  connection.external_account_id as "externalAccountId",
  connection.fields::text as "fields",
  connection.error_message as "errorMessage",
  connection.error_code as "errorCode",
  connection.credentials_version as "credentialsVersion",
  connection.credentials_changed_at as "credentialsChangedAt",
  connection.credentials_expire_at as "credentialsExpireAt",
  connection.broker_connection_id as "brokerConnectionId",
  connection.last_synced_at as "lastSyncedAt",
  connection.created_at as "createdAt",
  connection.updated_at as "updatedAt"
`;

/** A connection of the company; null when there is none. */
export async function findConnection(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
): Promise<ConnectionWithMetadataRow | null> {
  return database.maybeOne(sql.prepared("connection_find", connectionWithMetadataRow)`
    select ${connectionColumns}, connection.metadata::text as "metadataJson"
    from integrations.connections as connection
    where connection.company_id = ${companyId} and connection.id = ${connectionId}
  `);
}

/** Selects connections of a company, and the page. */
export interface ConnectionFilter {
  companyId: string;
  /** Null: any provider. */
  provider: string | null;
  /** Null: all but abandoned ones. */
  status: ConnectionStatus | null;
  limit: number;
  /** The last connection of the page before; null: from the beginning. */
  after: { createdAt: string; id: string } | null;
}

/** A page, newest first, and whether there is more after it. */
export async function listConnections(
  database: Queryable,
  { companyId, provider, status, limit, after }: ConnectionFilter,
): Promise<{ rows: readonly ConnectionRow[]; hasMore: boolean }> {
  const rows = await database.any(sql.type(connectionRow)`
    select ${connectionColumns}
    from integrations.connections as connection
    where connection.company_id = ${companyId}
      and ${provider === null ? sql.fragment`true` : sql.fragment`connection.provider = ${provider}`}
      and ${
        status === null
          ? sql.fragment`connection.status <> 'abandoned'`
          : sql.fragment`connection.status = ${status}`
      }
      and ${
        after === null
          ? sql.fragment`true`
          : sql.fragment`(connection.created_at, connection.id) < (${after.createdAt}, ${after.id})`
      }
    order by connection.created_at desc, connection.id desc
    limit ${limit + 1}
  `);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** A connection to be stored. */
export interface NewConnection extends ConnectionKey {
  name: string;
  provider: string;
  status: "pending" | "active";
  externalAccountId: string | null;
  /** Whether the account is unproven. No other connection that has not ended may then claim it. */
  accountClaimed?: boolean | undefined;
  fields: Readonly<Record<string, string>>;
  /** A JSON object as it was sent. */
  metadataJson: string | null;
  credentials: SealedCredentials | null;
}

/** Locks the creation of the company's connections until the transaction ends, so that they can be counted. */
export async function lockConnectionsOf(
  transaction: Transaction,
  companyId: string,
): Promise<void> {
  const name = `integrations connections ${companyId}`;
  await transaction.query(sql.prepared("connections_lock", nothing)`
    select pg_advisory_xact_lock(hashtextextended(${name}, 0))
  `);
}

/**
 * Stores a new connection; null when the company has `liveMax` live ones. The transaction must hold
 * the company's lock.
 *
 * @throws AppError CONFLICT when another connection claims the account
 */
export async function insertConnection(
  transaction: Transaction,
  connection: NewConnection,
  liveMax: number,
): Promise<ConnectionWithMetadataRow | null> {
  try {
    return await insert(transaction, connection, liveMax);
  } catch (error) {
    if (constraintOf(error) !== "connections_account_claim_key") throw error;
    const message = "is connected already: one connection may have this account";
    throw new AppError("CONFLICT", `externalAccountId ${message}.`, {
      violations: [{ path: ["externalAccountId"], message }],
      cause: error,
    });
  }
}

async function insert(
  transaction: Transaction,
  connection: NewConnection,
  liveMax: number,
): Promise<ConnectionWithMetadataRow | null> {
  const { companyId, credentials } = connection;
  return transaction.maybeOne(sql.prepared("connection_insert", connectionWithMetadataRow)`
    insert into integrations.connections as connection (
      id, company_id, name, provider, status, external_account_id, account_claimed, fields, metadata,
      company_key_id, sealed_credentials, credentials_version, credentials_changed_at
    )
    select
      ${connection.connectionId}, ${companyId}, ${connection.name}, ${connection.provider},
      ${connection.status}, ${connection.externalAccountId}, ${connection.accountClaimed ?? false}::boolean,
      ${JSON.stringify(connection.fields)}::jsonb, ${connection.metadataJson}::json,
      ${credentials?.companyKeyId ?? null}::uuid,
      decode(${credentials?.sealed.toString("hex") ?? null}::text, 'hex'),
      ${credentials === null ? 0 : 1}::integer,
      case when ${credentials !== null}::boolean then clock_timestamp() end
    where (
      select count(*)
      from integrations.connections as live
      where live.company_id = ${companyId} and live.status = any(${sql.array(LIVE_STATUSES, "text")})
    ) < ${liveMax}::integer
    returning ${connectionColumns}, connection.metadata::text as "metadataJson"
  `);
}

/**
 * Deletes all but the newest of a company's ended connections.
 *
 * @returns the number of deleted ones
 */
export async function trimEndedConnections(
  transaction: Transaction,
  companyId: string,
  keptMax: number,
): Promise<number> {
  const { rowCount } = await transaction.query(sql.prepared("connections_trim", nothing)`
    delete from integrations.connections
    where id in (
      select connection.id
      from integrations.connections as connection
      where connection.company_id = ${companyId}
        and connection.status in ('disconnected', 'abandoned')
      order by connection.updated_at desc, connection.id desc
      offset ${keptMax}::integer
    )
  `);
  return rowCount;
}
