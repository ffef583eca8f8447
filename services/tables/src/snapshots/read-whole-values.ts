import type { Reading } from "@workflow/db";
import { UNPACKED_BYTES_MAX } from "../store/rows-size.ts";
import { findRowSizes, findValueSizes, findWholeValues } from "../store/rows-values.ts";
import type { ValueSize, WholeValue } from "../store/rows-values.ts";

/** The bytes in memory at a time, beside one value that may be larger. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_ROWS = 1_000;

/**
 * Reads whole values under a key for rows at these positions, in batches of bounded size. Missing rows are left
 * out.
 */
export async function* readWholeValues(
  database: Reading,
  tableKey: number,
  key: string,
  positions: readonly number[],
): AsyncGenerator<readonly WholeValue[], void, undefined> {
  for (let start = 0; start < positions.length; start += BATCH_ROWS) {
    const part = positions.slice(start, start + BATCH_ROWS);
    const rowSizes = await findRowSizes(database, tableKey, part);
    for (const rows of batchesOf(rowSizes, UNPACKED_BYTES_MAX)) {
      const sizes = await valueSizes(database, tableKey, key, rows);
      for (const batch of batchesOf(sizes, BATCH_BYTES)) {
        yield await findWholeValues(database, tableKey, key, batch.map(toPosition));
      }
    }
  }
}

/** A batch of small values needs no measurement of its own. */
async function valueSizes(
  database: Reading,
  tableKey: number,
  key: string,
  rows: readonly ValueSize[],
): Promise<readonly ValueSize[]> {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  if (bytes <= BATCH_BYTES) return rows;
  return findValueSizes(database, tableKey, key, rows.map(toPosition));
}

const toPosition = ({ position }: ValueSize): number => position;

function* batchesOf(sizes: readonly ValueSize[], bytesMax: number): Generator<ValueSize[]> {
  let batch: ValueSize[] = [];
  let batchBytes = 0;
  for (const size of sizes) {
    if (batch.length > 0 && batchBytes + size.bytes > bytesMax) {
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    batch.push(size);
    batchBytes += size.bytes;
  }
  if (batch.length > 0) yield batch;
}
