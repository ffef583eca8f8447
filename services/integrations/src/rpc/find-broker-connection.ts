import type {
  FindBrokerConnectionRequest,
  FoundConnection,
} from "@workflow/proto/integrations/v1/accounts";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { getNamedByBroker } from "../connections/broker-connection.ts";
import type { ServiceContext } from "../context.ts";
import { toFoundConnection } from "./found-connection-message.ts";

/** Finds the connection of an account that the broker names. */
export function findBrokerConnection({
  database,
}: ServiceContext): UnaryMethod<FindBrokerConnectionRequest, FoundConnection> {
  return rpc({
    scopes: "internal:accounts",
    handler: async (name) => toFoundConnection(await getNamedByBroker(database, name)),
  });
}
