import type { InsertRowRequest, Row } from "@workflow/proto/tables/v1/rows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { parseRowData } from "../domain/row-data.ts";
import { toRowMessage } from "./row-message.ts";
import { requireTableName } from "./table-name.ts";
import { writeCauseOf } from "./write-cause.ts";

/** Adds a row at the end of a table. */
export function insertRow({ rowWriter }: ServiceContext): UnaryMethod<InsertRowRequest, Row> {
  return rpc({
    scopes: "workflows:write",
    async handler({ tableId, dataJson, origin }, call) {
      const data = parseRowData(dataJson);
      const table = requireTableName(tableId, call);
      return toRowMessage(await rowWriter.insert(table, data, writeCauseOf(call, origin), call));
    },
  });
}
