import type { Connection, GetConnectionRequest } from "@workflow/proto/integrations/v1/connections";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { connectionNotFound, requireConnectionKey } from "../connections/connection-key.ts";
import type { ServiceContext } from "../context.ts";
import { findConnection } from "../store/connections.ts";
import { toConnectionMessage } from "./connection-message.ts";

/** Returns one connection with its metadata, without decrypting credentials. */
export function getConnection({
  database,
}: ServiceContext): UnaryMethod<GetConnectionRequest, Connection> {
  return rpc({
    scopes: "connections:read",
    async handler({ connectionId }, call) {
      const row = await findConnection(database, requireConnectionKey(connectionId, call));
      if (row === null) throw connectionNotFound();
      return toConnectionMessage(row, row.metadataJson);
    },
  });
}
