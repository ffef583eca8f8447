import type { Row, UpdateRowRequest } from "@workflow/proto/tables/v1/rows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { parseRowData } from "../domain/row-data.ts";
import { requireRowId } from "./row-id.ts";
import { toRowMessage } from "./row-message.ts";
import { requireTableName } from "./table-name.ts";
import { writeCauseOf } from "./write-cause.ts";

/** Replaces the data of a row, or merges the given members into it. */
export function updateRow({ rowWriter }: ServiceContext): UnaryMethod<UpdateRowRequest, Row> {
  return rpc({
    scopes: "workflows:write",
    async handler({ tableId, rowId, dataJson, merge, origin }, call) {
      const data = parseRowData(dataJson);
      const table = requireTableName(tableId, call);
      const update = { id: requireRowId(rowId), data, merge };
      return toRowMessage(await rowWriter.update(table, update, writeCauseOf(call, origin), call));
    },
  });
}
