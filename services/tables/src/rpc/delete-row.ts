import type { DeleteRowRequest, DeleteRowResponse } from "@workflow/proto/tables/v1/rows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { requireRowId } from "./row-id.ts";
import { requireTableName } from "./table-name.ts";
import { writeCauseOf } from "./write-cause.ts";

/** Deletes a row. */
export function deleteRow({
  rowWriter,
}: ServiceContext): UnaryMethod<DeleteRowRequest, DeleteRowResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler({ tableId, rowId, origin }, call) {
      const table = requireTableName(tableId, call);
      await rowWriter.delete(table, requireRowId(rowId), writeCauseOf(call, origin), call);
      return {};
    },
  });
}
