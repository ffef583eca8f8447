import { setImmediate as nextTurn } from "node:timers/promises";
import type { Reading } from "@workflow/db";
import { createVector } from "../engine/index.ts";
import type { Vector, VectorName } from "../engine/index.ts";
import { loadValues } from "../store/rows-load.ts";
import type { LoadedValues } from "../store/rows-load.ts";
import { PARSED_BYTES_MAX } from "../store/rows-size.ts";
import { readWholeValues } from "./read-whole-values.ts";
import type { LoadedVector, Snapshot } from "./snapshot.ts";

const FIRST_BATCH_ROWS = 2_000;
const BATCH_ROWS_MAX = 10_000;
/** To parse and take in that much keeps the event loop busy for about 10 ms. */
const BATCH_CHARS = 1024 * 1024;

/** What is to be loaded from where. */
export interface VectorLoad {
  readonly database: Reading;
  readonly tableKey: number;
  readonly snapshot: Snapshot;
  readonly name: VectorName;
  /** Hears how large it has become; what it throws ends the load. */
  readonly onGrown: (bytes: number) => void;
}

/**
 * Reads the values under a key of all rows that a snapshot knows. It holds no transaction: a row may
 * be read as it is now rather than as it was at the snapshot's revision, which is put right when the
 * snapshot hears of everything that has changed since. Meanwhile rows must keep their indexes. Null when
 * the snapshot is of another history than the rows.
 */
export async function loadVector({
  database,
  tableKey,
  snapshot,
  name,
  onGrown,
}: VectorLoad): Promise<LoadedVector | null> {
  const { revision, size } = snapshot;
  const vector = createVector(name.type);
  let rows = FIRST_BATCH_ROWS;
  while (vector.length < size) {
    const from = vector.length;
    const to = Math.min(from + rows, size);
    const range = { first: snapshot.positionAt(from), last: snapshot.positionAt(to - 1) };
    const loaded = await loadValues(database, tableKey, name.key, range);
    if (loaded.history !== snapshot.history) return null;
    if (!loaded.fits) {
      rows = fittingRows(to - from, loaded);
      continue;
    }
    vector.append(inPlace(loaded, snapshot, from, to));
    if (!(await setLargeValues(database, tableKey, name.key, loaded, snapshot, vector)))
      return null;
    onGrown(vector.bytes);
    rows = nextBatchRows(to - from, loaded);
    await nextTurn();
  }
  return { ...name, vector, revision };
}

/** Values by index from `from` on; nothing where a row was deleted. */
function inPlace(loaded: LoadedValues, snapshot: Snapshot, from: number, to: number): unknown[] {
  const values = Array.from<unknown>({ length: to - from }).fill(null);
  for (const [place, position] of loaded.positions.entries()) {
    const index = snapshot.indexOf(position);
    if (index >= from) values[index - from] = loaded.values[place];
  }
  return values;
}

/** False when they are of another history than the snapshot. */
async function setLargeValues(
  database: Reading,
  tableKey: number,
  key: string,
  { largePositions }: LoadedValues,
  snapshot: Snapshot,
  vector: Vector,
): Promise<boolean> {
  for await (const batch of readWholeValues(database, tableKey, key, largePositions)) {
    for (const { position, history, value } of batch) {
      if (history !== snapshot.history) return false;
      const index = snapshot.indexOf(position);
      if (index >= 0) vector.set(index, value);
    }
  }
  return true;
}

function nextBatchRows(rows: number, loaded: LoadedValues): number {
  const quickToTake = Math.floor((rows * BATCH_CHARS) / Math.max(loaded.chars, 1));
  return Math.min(Math.max(quickToTake, 100), BATCH_ROWS_MAX, fittingRows(rows, loaded));
}

/** How many rows, when they are like these, one statement can read. */
function fittingRows(rows: number, { bytes }: LoadedValues): number {
  return Math.max(1, Math.floor((rows * PARSED_BYTES_MAX) / Math.max(bytes, 1)));
}
