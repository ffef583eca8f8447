import type { Transaction } from "@workflow/db";
import type { TableHeads } from "../snapshots/index.ts";
import type { RowBytesMax } from "../store/row-bytes.ts";
import { isSameHead, lockState } from "../store/states.ts";
import type { TableHead, TableName, TableState } from "../store/states.ts";

/** A table whose rows nobody else writes until the transaction ends. */
export interface LockedTable {
  head: TableHead;
  state: TableState;
  bytesMax: RowBytesMax;
}

/**
 * Locks a table for a write of its rows. Each such write begins with this lock. So writers of one table
 * never wait for each other in a circle, and revisions are committed in their order.
 *
 * @throws AppError NOT_FOUND when the company has no such table
 */
export async function lockTable(
  transaction: Transaction,
  heads: TableHeads,
  table: TableName,
): Promise<Omit<LockedTable, "bytesMax">> {
  let head = await heads.getInside(table, transaction);
  for (;;) {
    const state = await lockState(transaction, head);
    if (state !== null && isSameHead(state, head)) return { head, state };
    const current = await heads.reload(table, transaction);
    // The head cannot change under the lock. In another history of the database the table may have another key, and
    // then another table is locked.
    if (state !== null && current.tableKey === head.tableKey) return { head: current, state };
    head = current;
  }
}
