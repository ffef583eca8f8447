import { newUuid } from "@workflow/db";
import type { CreateTableRequest, Table } from "@workflow/proto/tables/v1/tables";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { parseNewTable } from "../domain/new-table.ts";
import { tableCreated } from "../domain/table-audit.ts";
import { generatedIds } from "../domain/table-fields.ts";
import { touchFolders } from "../store/folders.ts";
import { getTable, insertTable } from "../store/tables.ts";
import { newColumnId } from "./column-id.ts";
import { fromColumnList, toTableMessage } from "./table-message.ts";
import { requireRoom } from "./require-room.ts";
import { requireFolderId } from "./table-name.ts";

/** Stores a new table without rows. */
export function createTable({
  connections,
  audit,
}: ServiceContext): UnaryMethod<CreateTableRequest, Table> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const columns = fromColumnList(request.columns);
      const content = parseNewTable({ ...request, columns }, generatedIds(newColumnId));
      const folderId = requireFolderId(request.folderId);
      const name = { companyId: call.identity.companyId, tableId: newUuid() };
      const row = await connections.of(call.identity.companyId).transaction(async (transaction) => {
        if (folderId !== null) await touchFolders(transaction, name.companyId, [folderId]);
        await insertTable(transaction, name, { ...content, folderId }, 0);
        await requireRoom(transaction, name.companyId);
        const created = await getTable(transaction, name);
        await audit.record(transaction, call, tableCreated(created));
        return created;
      });
      audit.wake();
      return toTableMessage(row);
    },
  });
}
