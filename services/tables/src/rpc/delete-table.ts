import type { DeleteTableRequest, DeleteTableResponse } from "@workflow/proto/tables/v1/tables";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { tableDeleted } from "../domain/table-audit.ts";
import { touchFolders } from "../store/folders.ts";
import { deleteTable as deleteRow } from "../store/tables.ts";
import { lockTable } from "./lock-table.ts";
import { requireTableName } from "./table-name.ts";

/** Deletes a table and its rows. */
export function deleteTable({
  connections,
  audit,
}: ServiceContext): UnaryMethod<DeleteTableRequest, DeleteTableResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler({ tableId }, call) {
      const name = requireTableName(tableId, call);
      await connections.of(call.identity.companyId).transaction(async (transaction) => {
        const { key, table } = await lockTable(transaction, name);
        if (table.folderId !== null) {
          await touchFolders(transaction, name.companyId, [table.folderId]);
        }
        await deleteRow(transaction, key);
        await audit.record(transaction, call, tableDeleted(table));
      });
      audit.wake();
      return {};
    },
  });
}
