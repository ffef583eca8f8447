import { newId } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { RpcContext } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { insertConnection, lockConnectionsOf, trimEndedConnections } from "../store/connections.ts";
import type { ConnectionRow, NewConnection } from "../store/connections.ts";
import { connectionEntry } from "./connection-audit.ts";
import { CONNECTION_ID_PREFIX } from "./connection-key.ts";
import { ENDED_CONNECTIONS_KEPT, LIVE_CONNECTIONS_MAX, tooManyConnections } from "./limits.ts";

/** An id for a connection that is about to be made: credentials are sealed for it before. */
export function newConnectionId(): string {
  return newId(CONNECTION_ID_PREFIX);
}

/** Stores a new connection. Throws BAD_REQUEST when the company has as many as it may have. */
export async function insertConnectionRow(
  database: Database,
  connection: NewConnection,
): Promise<ConnectionRow> {
  const { companyId } = connection;
  return database.transaction(async (transaction) => {
    await lockConnectionsOf(transaction, companyId);
    const created = await insertConnection(transaction, connection, LIVE_CONNECTIONS_MAX);
    if (created === null) throw tooManyConnections();
    await trimEndedConnections(transaction, companyId, ENDED_CONNECTIONS_KEPT);
    return created;
  });
}

/**
 * Tells the audit log of a new connection. Not in the transaction that makes it: what begins an
 * authorization comes in between, and a connection whose authorization can't begin is removed again.
 */
export async function recordCreated(
  { database, audit }: Pick<ServiceContext, "database" | "audit">,
  call: RpcContext,
  connection: ConnectionRow,
): Promise<void> {
  const entry = connectionEntry("connection.created", null, connection);
  await database.transaction((transaction) => audit.record(transaction, call, entry));
  audit.wake();
}
