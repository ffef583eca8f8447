import type { GetTableRequest, Table } from "@workflow/proto/tables/v1/tables";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { getTable as getRow } from "../store/tables.ts";
import { toTableMessage } from "./table-message.ts";
import { requireTableName } from "./table-name.ts";

/** Returns a table, without its rows. */
export function getTable({ connections }: ServiceContext): UnaryMethod<GetTableRequest, Table> {
  return rpc({
    scopes: "workflows:read",
    async handler({ tableId }, call) {
      const name = requireTableName(tableId, call);
      return toTableMessage(await getRow(connections.of(name.companyId), name));
    },
  });
}
