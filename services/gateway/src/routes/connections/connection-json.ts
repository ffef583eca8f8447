import { ConnectionStatus } from "@workflow/proto/integrations/v1/connections";
import type { Connection } from "@workflow/proto/integrations/v1/connections";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/** The statuses of a connection by their names in the REST contract. */
export const CONNECTION_STATUSES = {
  pending: ConnectionStatus.PENDING,
  active: ConnectionStatus.ACTIVE,
  error: ConnectionStatus.ERROR,
  expired: ConnectionStatus.EXPIRED,
  disconnected: ConnectionStatus.DISCONNECTED,
  abandoned: ConnectionStatus.ABANDONED,
} as const;

const STATUS_NAMES = new Map<ConnectionStatus, string>(
  Object.entries(CONNECTION_STATUSES).map(([name, status]) => [status, name]),
);

/** The contract's name of a status. */
export function connectionStatusName(status: ConnectionStatus): string {
  return STATUS_NAMES.get(status) ?? "unknown";
}

/** A connection in a list, never with credentials. */
export function connectionJson(connection: Connection): { readonly [field: string]: Writable } {
  return {
    id: connection.id,
    name: connection.name,
    provider: connection.provider,
    status: connectionStatusName(connection.status),
    externalAccountId: connection.externalAccountId ?? null,
    errorMessage: connection.errorMessage ?? null,
    lastSyncedAt: connection.lastSyncedAt ?? null,
    createdAt: connection.createdAt,
    updatedAt: connection.updatedAt,
  };
}

/** The same with the caller's metadata. */
export function connectionWithMetadataJson(connection: Connection): Writable {
  const { metadataJson } = connection;
  const metadata = metadataJson === undefined ? {} : rawOrNull(metadataJson);
  return { ...connectionJson(connection), metadata };
}

/** The connection of an RPC answer, where it is always set. */
export function requireConnection(connection: Connection | undefined): Connection {
  if (connection === undefined) throw new Error("The answer holds no connection.");
  return connection;
}
