import type {
  FoundConnection,
  ReportBrokerSyncRequest,
} from "@workflow/proto/integrations/v1/accounts";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { getNamedByBroker } from "../connections/broker-connection.ts";
import type { ServiceContext } from "../context.ts";
import { noteSync } from "../store/account-connections.ts";
import { toFoundConnection } from "./found-connection-message.ts";

/** Records when the broker has synchronised an account. */
export function reportBrokerSync({
  database,
}: ServiceContext): UnaryMethod<ReportBrokerSyncRequest, FoundConnection> {
  return rpc({
    scopes: "internal:accounts",
    async handler({ syncedAt, ...name }) {
      const connection = await getNamedByBroker(database, name);
      await noteSync(database, connection, syncedAt ?? null);
      return toFoundConnection(connection);
    },
  });
}
