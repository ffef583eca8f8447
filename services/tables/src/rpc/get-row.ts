import type { GetRowRequest, Row } from "@workflow/proto/tables/v1/rows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { findRow } from "../store/rows-read.ts";
import { rowNotFound } from "../store/rows-record.ts";
import { requireRowId } from "./row-id.ts";
import { toRowMessage } from "./row-message.ts";
import { requireTableName } from "./table-name.ts";

/** Returns one row. */
export function getRow({ connections }: ServiceContext): UnaryMethod<GetRowRequest, Row> {
  return rpc({
    scopes: "workflows:read",
    async handler({ tableId, rowId }, call) {
      const table = requireTableName(tableId, call);
      const row = await findRow(connections.of(table.companyId, call), table, requireRowId(rowId));
      if (row === null) throw rowNotFound();
      return toRowMessage(row);
    },
  });
}
