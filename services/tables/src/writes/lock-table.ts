import type { Transaction } from "@workflow/db";
import type { TableHeads } from "../snapshots/index.ts";
import { lockState, tableNotFound } from "../store/states.ts";
import type { TableHead, TableName, TableState } from "../store/states.ts";

/** A table whose rows nobody else writes until the transaction ends. */
export interface LockedTable {
  head: TableHead;
  state: TableState;
}

/**
 * Locks a table for a write of its rows. That is the first thing each such write does, so writers of
 * one table never wait for each other in a circle, and revisions are committed in their order.
 *
 * @throws AppError NOT_FOUND when the company has no such table
 */
export async function lockTable(
  transaction: Transaction,
  heads: TableHeads,
  table: TableName,
): Promise<LockedTable> {
  const known = await heads.get(table, transaction);
  const state = await lockState(transaction, known);
  if (state === null) {
    heads.forget(table);
    throw tableNotFound();
  }
  // Under the lock the head cannot change any more.
  const isCurrent = known.schemaRevision === state.schemaRevision;
  return { head: isCurrent ? known : await heads.reload(table, transaction), state };
}
