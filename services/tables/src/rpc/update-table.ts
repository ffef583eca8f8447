import type { Table, UpdateTableRequest } from "@workflow/proto/tables/v1/tables";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { hasGrown } from "../domain/company-room.ts";
import { tableUpdated } from "../domain/table-audit.ts";
import { applyChanges, isUnchanged } from "../domain/table-changes.ts";
import { getTable, updateTable as updateRow } from "../store/tables.ts";
import { newColumnId } from "./column-id.ts";
import { lockTable } from "./lock-table.ts";
import { requireRoom } from "./require-room.ts";
import { fromColumnList, toTableMessage } from "./table-message.ts";
import { requireTableName } from "./table-name.ts";

/**
 * Changes the description of a table. Rows stay as they are, because columns are advisory. An update without any
 * difference is no change: nothing is stored, and the audit log gets no entry.
 */
export function updateTable({
  connections,
  audit,
}: ServiceContext): UnaryMethod<UpdateTableRequest, Table> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const { tableId, columns, ...fields } = request;
      const changes = { ...fields, columns: fromColumnList(columns) };
      const name = requireTableName(tableId, call);
      const row = await connections.of(call.identity.companyId).transaction(async (transaction) => {
        const { key, table: before } = await lockTable(transaction, name);
        const content = applyChanges(before, changes, newColumnId);
        if (isUnchanged(before, content)) return before;
        await updateRow(transaction, key, content);
        if (hasGrown(before, content)) await requireRoom(transaction, name.companyId);
        const after = await getTable(transaction, name);
        await audit.record(transaction, call, tableUpdated(before, after));
        return after;
      });
      audit.wake();
      return toTableMessage(row);
    },
  });
}
