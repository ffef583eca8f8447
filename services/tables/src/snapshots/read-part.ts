import type { Reading } from "@workflow/db";
import { isJsonObject } from "@workflow/json";
import { DATAS_BYTES, DATAS_SEPARATOR, loadDatas } from "../store/rows-load.ts";
import type { RowRange } from "../store/rows-load.ts";
import { PARSED_BYTES_MAX, UNPACKED_BYTES_MAX } from "../store/rows-size.ts";
import { loadValues } from "../store/values-load.ts";
import type { Snapshot } from "./snapshot.ts";

const FIRST_PART_ROWS = 2_000;
const PART_ROWS_MAX = 10_000;
/** To parse and take in that much keeps the thread busy for about 10 ms. */
const PART_CHARS = 1024 * 1024;
/** Whole rows are parsed and taken in piece by piece, each in 2 or 3 ms. */
const PIECE_CHARS = 256 * 1024;
/**
 * Whole rows are read when they have no more bytes for each key that is wanted. To take a value out of a
 * row Postgres parses all of it, each time; the thread parses it once, but all of it has to get there.
 */
const WHOLE_ROW_BYTES_PER_KEY = 512;
/** Nor more than this: a hundred of them have to fit into one statement. */
const WHOLE_ROW_BYTES_MAX = 4_096;

/** What is read of a table, for a snapshot of it. */
export interface PartSource {
  readonly database: Reading;
  readonly tableKey: number;
  readonly snapshot: Snapshot;
  readonly keys: readonly string[];
}

/** Which rows are wanted next, by their indexes in the snapshot, and how they are read. */
export interface WantedPart {
  readonly from: number;
  readonly to: number;
  /** Whether all of their data is read, not only what is under the keys. */
  readonly whole: boolean;
}

/** Values of some rows, which follow each other in the snapshot. */
export interface LoadedPart {
  readonly history: string;
  /**
   * The rows in pieces, in order. Each is parsed by its function, and gives the values of a key by the key's place. Empty
   * when the rows did not fit into one statement.
   */
  readonly pieces: Iterable<ParsePiece>;
  /** Where values are missing for their size. */
  readonly large: readonly { place: number; key: string; positions: readonly number[] }[];
  /** What to read after this; null after the last rows. */
  readonly next: WantedPart | null;
}

/** Parses some rows. Returns the values of a key by its place. */
export type ParsePiece = () => (place: number) => unknown[];

/** The first rows of so many. */
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

/** Cuts the data of rows into pieces; rows with gaps between them are placed together, and stay one piece. */
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

/** How many rows, when they are like these, one statement can measure and parse for each of the keys. */
function fittingRows(rows: number, bytes: number, keys: number): number {
  const max = bytes > UNPACKED_BYTES_MAX ? UNPACKED_BYTES_MAX : PARSED_BYTES_MAX / keys;
  return Math.max(1, Math.floor((rows * max) / Math.max(bytes, 1)));
}

function clamp(rows: number, atLeast: number): number {
  return Math.min(Math.max(rows, atLeast), PART_ROWS_MAX);
}

/** Puts values of rows at these positions in their places between two indexes; nothing where a row is gone. */
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

/** What a row's data holds under a key. */
export function memberOf(data: unknown, key: string): unknown {
  return isJsonObject(data) && Object.hasOwn(data, key) ? data[key] : null;
}

/** The values of a JSON array. */
export function parseArray(text: string): unknown[] {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value)) throw new TypeError("What is read as an array is one.");
  return value;
}
