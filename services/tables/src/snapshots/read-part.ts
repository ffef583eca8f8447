import type { Reading } from "@workflow/db";
import { isJsonObject } from "@workflow/json";
import { DATAS_BYTES, DATAS_SEPARATOR, loadDatas } from "../store/rows-load.ts";
import type { RowRange } from "../store/rows-load.ts";
import { PARSED_BYTES_MAX, UNPACKED_BYTES_MAX } from "../store/rows-size.ts";
import { loadValues } from "../store/values-load.ts";
import type { Snapshot } from "./snapshot.ts";

const FIRST_PART_ROWS = 2_000;
const PART_ROWS_MAX = 10_000;
/** The characters that the thread parses and takes in within about 10 ms. */
const PART_CHARS = 1024 * 1024;
/** The characters of whole rows in one piece, which takes 2 or 3 ms. */
const PIECE_CHARS = 256 * 1024;
/**
 * Whole rows are read up to this size for each wanted key. Postgres parses a row again for each value that it
 * extracts. The thread parses a row once, but needs all of its text.
 */
const WHOLE_ROW_BYTES_PER_KEY = 512;
/** The most bytes of a whole row: a hundred rows have to fit into one statement. */
const WHOLE_ROW_BYTES_MAX = 4_096;

/** The source of a part. */
export interface PartSource {
  readonly database: Reading;
  readonly tableKey: number;
  readonly snapshot: Snapshot;
  readonly keys: readonly string[];
}

/** The next rows to read, by their indexes in the snapshot, and the way to read them. */
export interface WantedPart {
  readonly from: number;
  readonly to: number;
  /** Whether all data of the rows is read, or only the values under the keys. */
  readonly whole: boolean;
}

/** Values of some rows that follow each other in the snapshot. */
export interface LoadedPart {
  readonly history: string;
  /**
   * The rows in pieces, in order. Each function parses its piece, and returns the values of a key by the key's
   * place. There are none when the rows did not fit into one statement.
   */
  readonly pieces: Iterable<ParsePiece>;
  /** The values that are left out for their size. */
  readonly large: readonly { place: number; key: string; positions: readonly number[] }[];
  /** The rows to read next; null after the last ones. */
  readonly next: WantedPart | null;
}

/** Parses some rows, and returns a function that gives the values of a key by its place. */
export type ParsePiece = () => (place: number) => unknown[];

/** The first rows of a table of this size. */
export function firstPart(size: number): WantedPart {
  return { from: 0, to: Math.min(size, FIRST_PART_ROWS), whole: true };
}

/** Reads rows by one statement, if they fit into one. */
export async function readPart(source: PartSource, wanted: WantedPart): Promise<LoadedPart> {
  const { snapshot } = source;
  const { from, to } = wanted;
  const range = {
    first: snapshot.positionAt(from),
    last: snapshot.positionAt(to - 1),
    rows: to - from,
  };
  return wanted.whole ? readDatas(source, wanted, range) : readValues(source, wanted, range);
}

async function readDatas(
  { database, tableKey, snapshot, keys }: PartSource,
  { from, to }: WantedPart,
  range: RowRange,
): Promise<LoadedPart> {
  const loaded = await loadDatas(database, tableKey, range);
  const { history, bytes, fits, positions } = loaded;
  const rows = to - from;
  const start = fits ? to : from;
  const wholeMax = Math.min(keys.length * WHOLE_ROW_BYTES_PER_KEY, WHOLE_ROW_BYTES_MAX);
  const whole = bytes <= rows * wholeMax;
  const count = whole
    ? clamp(Math.floor((rows * DATAS_BYTES) / Math.max(bytes, 1)), 100)
    : Math.min(FIRST_PART_ROWS, fittingRows(rows, bytes, keys.length));
  const next = partFrom(start, count, whole, snapshot.size);
  if (!fits) return { history, pieces: [], large: [], next };
  return {
    history,
    pieces: piecesOf(loaded.datas, positions === null, (datas) => {
      const inPlace = placing(positions, snapshot, from, to);
      return (place) => {
        const key = keys[place] ?? "";
        return inPlace(datas.map((data) => memberOf(data, key)));
      };
    }),
    large: [],
    next,
  };
}

async function readValues(
  { database, tableKey, snapshot, keys }: PartSource,
  { from, to }: WantedPart,
  range: RowRange,
): Promise<LoadedPart> {
  const loaded = await loadValues(database, tableKey, keys, range);
  const { history, bytes, fits, positions, chars } = loaded;
  const rows = to - from;
  const fitting = fittingRows(rows, bytes, keys.length);
  if (!fits) {
    const next = partFrom(from, fitting, false, snapshot.size);
    return { history, pieces: [], large: [], next };
  }
  const quickToTake = Math.floor((rows * PART_CHARS) / Math.max(chars, 1));
  const count = Math.min(clamp(quickToTake, 100), fitting);
  return {
    history,
    pieces: [
      () => {
        const inPlace = placing(positions, snapshot, from, to);
        return (place) => inPlace(parseArray(loaded.values[place] ?? "[]"));
      },
    ],
    large: loaded.largePositions
      .map((missing, place) => ({ place, key: keys[place] ?? "", positions: missing }))
      .filter(({ positions: missing }) => missing.length > 0),
    next: partFrom(to, count, false, snapshot.size),
  };
}

/**
 * Cuts the data of rows into pieces. Rows with gaps between them stay one piece, since they are placed together.
 */
function* piecesOf(
  datas: string,
  isDense: boolean,
  read: (datas: unknown[]) => (place: number) => unknown[],
): Generator<ParsePiece> {
  for (let start = 0; start < datas.length;) {
    const cut = isDense ? datas.indexOf(DATAS_SEPARATOR, start + PIECE_CHARS) : -1;
    const end = cut === -1 ? datas.length : cut;
    const piece = datas.slice(start, end);
    yield () => read(parseArray(`[${piece.replaceAll(DATAS_SEPARATOR, ",")}]`));
    start = end + 1;
  }
}

function partFrom(from: number, rows: number, whole: boolean, size: number): WantedPart | null {
  return from < size ? { from, to: Math.min(from + rows, size), whole } : null;
}

/**
 * The number of rows like these whose values one statement can measure and extract for each key.
 */
function fittingRows(rows: number, bytes: number, keys: number): number {
  const max = bytes > UNPACKED_BYTES_MAX ? UNPACKED_BYTES_MAX : PARSED_BYTES_MAX / keys;
  return Math.max(1, Math.floor((rows * max) / Math.max(bytes, 1)));
}

function clamp(rows: number, atLeast: number): number {
  return Math.min(Math.max(rows, atLeast), PART_ROWS_MAX);
}

/**
 * Puts the values of rows into their places between two indexes. The place of a missing row stays empty.
 */
function placing(
  positions: readonly number[] | null,
  snapshot: Snapshot,
  from: number,
  to: number,
): (values: unknown[]) => unknown[] {
  if (positions === null) return (values) => values;
  const places = positions.map((position) => snapshot.indexOf(position) - from);
  return (values) => {
    const placed = Array.from<unknown>({ length: to - from }).fill(null);
    for (const [index, place] of places.entries()) if (place >= 0) placed[place] = values[index];
    return placed;
  };
}

/** The value under a key of a row's data; null when there is none. */
export function memberOf(data: unknown, key: string): unknown {
  return isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : null;
}

/** The values of a JSON array. */
export function parseArray(text: string): unknown[] {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value)) throw new TypeError("What is read as an array is one.");
  return value;
}
