import { ConnectionStatus as MessageStatus } from "@workflow/proto/integrations/v1/connections";
import type { Connection } from "@workflow/proto/integrations/v1/connections";
import type { ConnectionStatus } from "../domain/connection-states.ts";
import type { ConnectionRow } from "../store/connections.ts";

/** The statuses by their names in messages. */
export const MESSAGE_STATUS = {
  pending: MessageStatus.PENDING,
  active: MessageStatus.ACTIVE,
  error: MessageStatus.ERROR,
  expired: MessageStatus.EXPIRED,
  disconnected: MessageStatus.DISCONNECTED,
  abandoned: MessageStatus.ABANDONED,
} as const satisfies Record<ConnectionStatus, MessageStatus>;

/** The message for a stored connection, without credentials and fields. */
export function toConnectionMessage(row: ConnectionRow, metadataJson?: string | null): Connection {
  return {
    id: row.id,
    name: row.name,
    provider: row.provider,
    status: MESSAGE_STATUS[row.status],
    externalAccountId: row.externalAccountId ?? undefined,
    errorMessage: row.errorMessage ?? undefined,
    lastSyncedAt: row.lastSyncedAt ?? undefined,
    metadataJson: metadataJson ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
