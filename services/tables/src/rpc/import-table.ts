import { newUuid } from "@workflow/db";
import type { ImportTableRequest, Table } from "@workflow/proto/tables/v1/tables";
import { rpcClientStream } from "@workflow/rpc";
import type { ClientStreamMethod, RpcContext } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { tableCreated } from "../domain/table-audit.ts";
import { createMemoryBudget } from "../import/memory-budget.ts";
import { readImport } from "./read-import.ts";
import type { ReadImport } from "./read-import.ts";
import { insertImportedRows } from "../store/import-rows.ts";
import { requireFolder, touchFolders } from "../store/folders.ts";
import { findRowBytes } from "../store/row-bytes.ts";
import { getTable, insertTable } from "../store/tables.ts";
import type { TableRow } from "../store/tables.ts";
import { tooManyBytes } from "../writes/index.ts";
import { requireRoom } from "./require-room.ts";
import { toTableMessage } from "./table-message.ts";

/** The memory of all imports under way together: two of the largest. */
const MEMORY_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Stores a new table with rows in one transaction, all or nothing. The import is received and checked before the
 * transaction begins. A client that sends slowly, or stops sending, therefore holds some memory, but no connection
 * of the pool and no transaction that keeps Postgres from cleaning up. In return, storing does not overlap with
 * receiving; that costs about half a second of CPU for 100,000 rows of 8 columns.
 */
export function importTable(
  context: ServiceContext,
): ClientStreamMethod<ImportTableRequest, Table> {
  const memory = createMemoryBudget(MEMORY_BYTES_MAX);
  return rpcClientStream({
    scopes: "workflows:write",
    async handler(requests, call) {
      using share = memory.open();
      const table = await storeImport(context, call, await readImport(requests, share));
      context.audit.wake();
      return toTableMessage(table);
    },
  });
}

async function storeImport(
  { connections, audit, rowBytesMax }: ServiceContext,
  call: RpcContext,
  { table, batches, rowCount }: ReadImport,
): Promise<TableRow> {
  const { companyId } = call.identity;
  const { folderId } = table;
  const name = { companyId, tableId: newUuid() };
  return connections.of(companyId).transaction(async (transaction) => {
    if (folderId !== null) await requireFolder(transaction, { companyId, folderId });
    const key = await insertTable(transaction, name, table, rowCount);
    const requireBytes = async () => {
      const refusal = tooManyBytes(await findRowBytes(transaction, key), rowBytesMax);
      if (refusal !== null) throw refusal;
    };
    let position = 0;
    for (const batch of batches) {
      call.signal.throwIfAborted();
      const ids = Array.from({ length: batch.count }, newUuid);
      await insertImportedRows(transaction, key, { ids, json: batch.json }, position);
      position += batch.count;
      // The check follows each batch, so that an import far beyond the limit is not stored first.
      await requireBytes();
    }
    // This lock comes last. It keeps others from making tables, and from moving tables into and out of the folder.
    if (folderId !== null) await touchFolders(transaction, companyId, [folderId]);
    await requireRoom(transaction, companyId);
    // The check is repeated, because other imports of the company may have ended meanwhile. No other import can end
    // now.
    await requireBytes();
    const row = await getTable(transaction, name);
    await audit.record(transaction, call, tableCreated(row));
    return row;
  });
}
