import type { Transaction } from "@workflow/db";
import { lockState, tableNotFound } from "../store/states.ts";
import type { TableKey, TableName } from "../store/states.ts";
import { findTableKey, getTable } from "../store/tables.ts";
import type { TableRow } from "../store/tables.ts";

/**
 * The table, locked until the transaction ends: other changes of the table and of its rows wait.
 * @throws AppError NOT_FOUND when there is none, or when the transaction that was waited for has deleted it
 */
export async function lockTable(
  transaction: Transaction,
  name: TableName,
): Promise<{ key: TableKey; table: TableRow }> {
  const key = await findTableKey(transaction, name);
  if (key === null || (await lockState(transaction, key)) === null) throw tableNotFound();
  // The read is a statement of its own, because it must not see a state older than the lock.
  return { key, table: await getTable(transaction, name) };
}
