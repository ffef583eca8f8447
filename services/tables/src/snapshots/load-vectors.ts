import type { Reading } from "@workflow/db";
import { createVector } from "../engine/index.ts";
import type { Steps, Vector, VectorName } from "../engine/index.ts";
import { readWholeValues } from "./read-whole-values.ts";
import { firstPart, readPart } from "./read-part.ts";
import type { LoadedPart, ParsePiece, WantedPart } from "./read-part.ts";
import type { LoadedVector, Snapshot } from "./snapshot.ts";

/** The columns to load, and their source. */
export interface VectorsLoad {
  readonly database: Reading;
  readonly tableKey: number;
  readonly snapshot: Snapshot;
  /** At least one. */
  readonly names: readonly VectorName[];
  /** Does steps in the turns of the table's company. */
  readonly inTurns: (steps: Steps) => Promise<void>;
  /** Receives the total size of the columns so far; an error from it ends the load. */
  readonly onGrown: (bytes: number) => void;
}

/**
 * Reads columns of all rows of a snapshot in one scan. The scan holds no transaction, so it may read a row as it is
 * now. The snapshot corrects such a row when it takes in the changes since its revision. Rows must keep their
 * indexes meanwhile. Null means that the rows have another history than the snapshot. The next part is read while
 * the thread takes one in, and only one statement is under way at a time.
 */
export async function loadVectors(load: VectorsLoad): Promise<LoadedVector[] | null> {
  const { database, tableKey, snapshot, names, onGrown } = load;
  const { revision, size } = snapshot;
  const keys = [...new Set(names.map(({ key }) => key))];
  const columns = names.map(({ key, type }) => ({
    place: keys.indexOf(key),
    vector: createVector(type),
  }));
  for (const { vector } of columns) vector.reserve(size);
  const grown = () => onGrown(columns.reduce((sum, { vector }) => sum + vector.bytes, 0));
  grown();
  const read = (wanted: WantedPart): Promise<LoadedPart> => {
    const part = readPart({ database, tableKey, snapshot, keys }, wanted);
    // The read may fail before anybody waits for it.
    part.catch(() => {});
    return part;
  };
  let next = size === 0 ? null : read(firstPart(size));
  try {
    while (next !== null) {
      const part: LoadedPart = await next;
      next = null;
      if (part.history !== snapshot.history) return null;
      const isAlone = part.large.length > 0;
      if (part.next !== null && !isAlone) next = read(part.next);
      if (!(await takeIn(part, columns, load))) return null;
      grown();
      if (part.next !== null && isAlone) next = read(part.next);
    }
  } finally {
    // Every statement has ended when the load ends.
    await next?.catch(() => {});
  }
  return columns.map(({ vector }, place) => ({ ...nameAt(names, place), vector, revision }));
}

/** A column under way: the place of its key among all keys, and its vector. */
interface Loading {
  readonly place: number;
  readonly vector: Vector;
}

/** Takes in a part. False means that some of it has another history than the snapshot. */
async function takeIn(
  part: LoadedPart,
  columns: readonly Loading[],
  { database, tableKey, snapshot, inTurns }: VectorsLoad,
): Promise<boolean> {
  await inTurns(appendPieces(part.pieces, columns));
  for (const { place, key, positions } of part.large) {
    for await (const batch of readWholeValues(database, tableKey, key, positions)) {
      for (const { position, history, value } of batch) {
        if (history !== snapshot.history) return false;
        const index = snapshot.indexOf(position);
        if (index < 0) continue;
        for (const column of columns) if (column.place === place) column.vector.set(index, value);
      }
    }
  }
  return true;
}

function* appendPieces(pieces: Iterable<ParsePiece>, columns: readonly Loading[]): Steps {
  for (const parse of pieces) {
    const valuesOf = parse();
    for (const { place, vector } of columns) {
      vector.append(valuesOf(place));
      yield;
    }
  }
}

function nameAt(names: readonly VectorName[], place: number): VectorName {
  const name = names[place];
  if (name === undefined) throw new RangeError(`there is no column ${place}`);
  return { key: name.key, type: name.type };
}
