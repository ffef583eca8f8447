import type { MoveTableRequest, MoveTableResponse } from "@workflow/proto/tables/v1/tables";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { tableMoved } from "../domain/table-audit.ts";
import { touchFolders } from "../store/folders.ts";
import { setFolder } from "../store/tables.ts";
import { lockTable } from "./lock-table.ts";
import { requireFolderId, requireTableName } from "./table-name.ts";

/**
 * Moves a table into a folder, or back to the root. A table that is there already does not change.
 */
export function moveTable({
  connections,
  audit,
}: ServiceContext): UnaryMethod<MoveTableRequest, MoveTableResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const name = requireTableName(request.tableId, call);
      const folderId = requireFolderId(request.folderId);
      await connections.of(call.identity.companyId).transaction(async (transaction) => {
        const { key, table } = await lockTable(transaction, name);
        if (table.folderId === folderId) return;
        const folderIds = [table.folderId, folderId].filter((id) => id !== null);
        await touchFolders(transaction, name.companyId, folderIds);
        await setFolder(transaction, key, folderId);
        const entry = tableMoved(name.tableId, table.folderId, folderId);
        await audit.record(transaction, call, entry);
      });
      audit.wake();
      return { tableId: name.tableId, folderId: folderId ?? undefined };
    },
  });
}
