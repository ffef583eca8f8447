import type { ListTablesRequest, ListTablesResponse } from "@workflow/proto/tables/v1/tables";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { listTables as listRows } from "../store/tables.ts";
import { toTableMessage } from "./table-message.ts";

/** Lists all tables of the company, newest first. */
export function listTables({
  connections,
}: ServiceContext): UnaryMethod<ListTablesRequest, ListTablesResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler(_request, { identity }) {
      const { companyId } = identity;
      const rows = await listRows(connections.of(companyId), companyId);
      return { tables: rows.map(toTableMessage) };
    },
  });
}
