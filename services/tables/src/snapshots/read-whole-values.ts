import type { Queryable } from "@workflow/db";
import { findValueSizes, findWholeValues } from "../store/rows-values.ts";
import type { WholeValue } from "../store/rows-values.ts";

/** How much is in memory at a time, beside one value that may be larger. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_ROWS = 1_000;

/**
 * Reads whole values under a key, of rows at these positions, in batches of bounded size. Rows that
 * are gone are left out.
 */
export async function* readWholeValues(
  database: Queryable,
  tableKey: number,
  key: string,
  positions: readonly number[],
): AsyncGenerator<readonly WholeValue[], void, undefined> {
  for (let start = 0; start < positions.length; start += BATCH_ROWS) {
    const part = positions.slice(start, start + BATCH_ROWS);
    const sizes = await findValueSizes(database, tableKey, key, part);
    for (const batch of batchesOf(sizes)) {
      yield await findWholeValues(database, tableKey, key, batch);
    }
  }
}

function* batchesOf(sizes: readonly { position: number; bytes: number }[]): Generator<number[]> {
  let batch: number[] = [];
  let batchBytes = 0;
  for (const { position, bytes } of sizes) {
    if (batch.length > 0 && batchBytes + bytes > BATCH_BYTES) {
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    batch.push(position);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}
