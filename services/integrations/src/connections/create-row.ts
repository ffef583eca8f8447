import type { AuditTrail } from "@workflow/audit";
import { newId } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import type { RpcContext } from "@workflow/rpc";
import type { CompanyWrites } from "@workflow/service";
import { insertConnection, lockConnectionsOf, trimEndedConnections } from "../store/connections.ts";
import type { ConnectionRow, NewConnection } from "../store/connections.ts";
import { connectionEntry } from "./connection-audit.ts";
import { CONNECTION_ID_PREFIX } from "./connection-key.ts";
import { ENDED_CONNECTIONS_KEPT, LIVE_CONNECTIONS_MAX, tooManyConnections } from "./limits.ts";

/** An id for a new connection, needed before it is stored: credentials are sealed for the id. */
export function newConnectionId(): string {
  return newId(CONNECTION_ID_PREFIX);
}

/**
 * Stores a new connection.
 *
 * @throws AppError BAD_REQUEST when the company has its limit of connections; CONFLICT when another
 * company has claimed the account
 */
export async function insertConnectionRow(
  writes: CompanyWrites,
  call: RpcContext,
  connection: NewConnection,
): Promise<ConnectionRow> {
  return writes.transaction(call, (transaction) => insertWithin(transaction, connection));
}

/**
 * Stores a connection that is complete at once, with its audit entry.
 *
 * @throws as `insertConnectionRow`
 */
export async function insertRecordedConnection(
  { writes, audit }: { writes: CompanyWrites; audit: AuditTrail },
  call: RpcContext,
  connection: NewConnection,
): Promise<ConnectionRow> {
  const row = await writes.transaction(call, async (transaction) => {
    const created = await insertWithin(transaction, connection);
    await audit.record(transaction, call, connectionEntry("connection.created", null, created));
    return created;
  });
  audit.wake();
  return row;
}

async function insertWithin(
  transaction: Transaction,
  connection: NewConnection,
): Promise<ConnectionRow> {
  const { companyId } = connection;
  await lockConnectionsOf(transaction, companyId);
  const created = await insertConnection(transaction, connection, LIVE_CONNECTIONS_MAX);
  if (created === null) throw tooManyConnections();
  await trimEndedConnections(transaction, companyId, ENDED_CONNECTIONS_KEPT);
  return created;
}

/**
 * Records a new connection, which a person has yet to authorize, in the audit log. The transaction that
 * stores the connection does not record it. The authorization begins between the two, and a connection
 * whose authorization can't begin is deleted again.
 */
export async function recordCreated(
  { database, audit }: { database: Database; audit: AuditTrail },
  call: RpcContext,
  connection: ConnectionRow,
): Promise<void> {
  const entry = connectionEntry("connection.created", null, connection);
  await database.transaction((transaction) => audit.record(transaction, call, entry));
  audit.wake();
}
