import { newUuid } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { findRowsToChange } from "../store/rows-change.ts";
import type { RowUpdate } from "../store/rows-change.ts";
import { rowNotFound } from "../store/rows-record.ts";
import type { RowRecord } from "../store/rows-record.ts";
import { findKeyedWrite, insertKeyedWrite } from "../store/write-keys.ts";
import type { KeyedWrite } from "../store/write-keys.ts";
import type { LockedTable } from "./lock-table.ts";
import type { WriteCause } from "./row-events.ts";
import { writeRows } from "./write-rows.ts";

/**
 * A write with an idempotency key: the same key again within 24 hours changes nothing and makes no event.
 */
export interface KeyedCause extends WriteCause {
  key: string;
}

/** Whether a write has an idempotency key. */
export function isKeyed(cause: WriteCause): cause is KeyedCause {
  return cause.key !== undefined;
}

/** Adds a row. The same key again returns the row as it was added, even when the row is gone. */
export async function insertOnce(
  transaction: Transaction,
  locked: LockedTable,
  data: string,
  cause: KeyedCause,
): Promise<RowRecord> {
  return once(transaction, locked, cause, {
    make: async () => {
      const inserts = [{ id: newUuid(), data, cause }];
      const { inserted } = await writeRows(transaction, locked, { inserts }, cause);
      return onlyRow(inserted);
    },
    again: ({ id, position, revision, createdAt }) => ({
      id,
      position,
      data,
      revision,
      createdAt,
      updatedAt: createdAt,
    }),
  });
}

/** Changes a row. The same key again returns the row as it is now, whoever has changed it since. */
export async function updateOnce(
  transaction: Transaction,
  locked: LockedTable,
  update: RowUpdate & { merge: boolean },
  cause: KeyedCause,
): Promise<RowRecord> {
  const { merge, ...change } = update;
  return once(transaction, locked, cause, {
    make: async () => {
      const { updated } = await writeRows(transaction, locked, { updates: [change], merge }, cause);
      return onlyRow(updated);
    },
    again: ({ id }) => findRow(transaction, locked, id),
  });
}

/** Deletes a row. */
export async function deleteOnce(
  transaction: Transaction,
  locked: LockedTable,
  rowId: string,
  cause: KeyedCause,
): Promise<void> {
  await once(transaction, locked, cause, {
    make: async () => {
      const row = await findRow(transaction, locked, rowId);
      await writeRows(transaction, locked, { deletes: [rowId] }, cause);
      return row;
    },
    again: () => null,
  });
}

async function once<Again>(
  transaction: Transaction,
  { head }: LockedTable,
  { key }: KeyedCause,
  write: {
    make: () => Promise<RowRecord>;
    again: (earlier: KeyedWrite) => Again | Promise<Again>;
  },
): Promise<RowRecord | Again> {
  const earlier = await findKeyedWrite(transaction, head, key);
  if (earlier !== null) return write.again(earlier);
  const row = await write.make();
  await insertKeyedWrite(transaction, head, key, row);
  return row;
}

async function findRow(
  transaction: Transaction,
  { head }: LockedTable,
  id: string,
): Promise<RowRecord> {
  const [row] = await findRowsToChange(transaction, head, [id]);
  if (row === undefined) throw rowNotFound();
  return row;
}

function onlyRow([row]: readonly RowRecord[]): RowRecord {
  if (row === undefined) throw new Error("a row that was written is missing");
  return row;
}
