import type { Column } from "../domain/column.ts";
import type { Filter } from "../domain/row-query.ts";
import { CELL } from "./cell-state.ts";
import { filterInSteps } from "./filter-rows.ts";
import { placeInSteps } from "./group-rows.ts";
import type { PlacedRows } from "./group-rows.ts";
import { countOf, liveMask } from "./mask.ts";
import type { Mask } from "./mask.ts";
import { NumberVector } from "./number-vector.ts";
import type { RowSource } from "./row-source.ts";
import { finish } from "./steps.ts";
import type { Steps } from "./steps.ts";
import type { Vector } from "./vector.ts";

/** One group more than an answer may have. Groups beyond that number are left out. */
const GROUPS_MAX = 10_001;
/** The groups that one step writes as JSON. */
const STEP_GROUPS = 500;

/** A figure to compute. `count` without a column counts rows; sum and avg need a number column. */
export interface Measure {
  readonly function: "count" | "sum" | "avg" | "min" | "max";
  readonly column: Column | null;
}

/** The wanted figures, and the rows that they are about. */
export interface AggregateQuery {
  readonly filter: Filter;
  /** The column whose values make the groups; null for one group of all rows. */
  readonly groupBy: Column | null;
  readonly measures: readonly Measure[];
}

/** The figures of a group, as JSON, in the order of the measures. */
export interface AggregateGroup {
  /** The group's value; `null` for blanks and for the one group of all rows. */
  readonly keyJson: string;
  /**
   * Whether the key is only the beginning of the value. The group may then contain rows of different values.
   */
  readonly keyIsCut: boolean;
  readonly valuesJson: readonly string[];
}

/**
 * Computes figures for groups of rows in the column's order, with blanks last and at most 10,001 groups. Mistyped
 * values count in no figure but `count`, which counts every value that is not blank. 100,000 rows take 1 ms, and
 * 0.3 ms more for each figure.
 */
export function aggregateRows(source: RowSource, query: AggregateQuery): AggregateGroup[] {
  return finish(aggregateInSteps(source, query));
}

/** Does the same as `aggregateRows`, in steps. */
export function* aggregateInSteps(
  source: RowSource,
  query: AggregateQuery,
): Steps<AggregateGroup[]> {
  const { groupBy, measures } = query;
  const vector = groupBy === null ? null : source.vector(groupBy.id, groupBy.type);
  if (vector !== null) yield* vector.prepareOrder();
  const mask = yield* filterInSteps(source, query.filter);
  const grouped =
    groupBy === null || vector === null
      ? oneGroup(mask ?? liveMask(source))
      : yield* placeInSteps({
          column: groupBy,
          vector,
          size: source.size,
          mask,
          groupsMax: GROUPS_MAX,
        });
  const cut = vector === null ? new Set<number>() : placesOfCut(vector, grouped);
  const figures: unknown[][] = [];
  for (const measure of measures) {
    yield;
    figures.push(figuresOf(source, measure, grouped));
  }
  const groups: AggregateGroup[] = [];
  for (const [place, { first }] of grouped.groups.entries()) {
    if (place % STEP_GROUPS === 0) yield;
    groups.push({
      keyJson: vector === null ? "null" : keyJson(vector, first),
      keyIsCut: cut.has(place),
      valuesJson: figures.map((values) => JSON.stringify(values[place] ?? null)),
    });
  }
  return groups;
}

function oneGroup(mask: Mask): PlacedRows {
  const placeOf = new Int32Array(mask.length);
  for (let row = 0; row < mask.length; row += 1) placeOf[row] = (mask[row] ?? 0) - 1;
  return { groups: [{ first: mask.indexOf(1), count: countOf(mask) }], placeOf, more: false };
}

/** The groups with at least one row whose value is cut. */
function placesOfCut(vector: Vector, { placeOf }: PlacedRows): Set<number> {
  return new Set(vector.cutRows().map((row) => placeOf[row] ?? -1));
}

function keyJson(vector: Vector, row: number): string {
  if (vector.states[row] === CELL.blank) return "null";
  const { text, isString, long } = vector.stored(row);
  return isString || long ? JSON.stringify(text) : text;
}

/** The measure's figure for each group; null (or nothing) for a group without a figure. */
function figuresOf(source: RowSource, measure: Measure, grouped: PlacedRows): unknown[] {
  const { groups } = grouped;
  const { column } = measure;
  if (column === null) {
    return measure.function === "count" ? groups.map(({ count }) => count) : [];
  }
  const vector = source.vector(column.id, column.type);
  if (measure.function === "count") return countsOf(vector, grouped);
  if (!(vector instanceof NumberVector)) return [];
  switch (measure.function) {
    case "sum":
      return Array.from(sumsOf(vector, grouped).sums);
    case "avg":
      return meansOf(vector, grouped);
    case "min":
      return extremesOf(vector, grouped, 1);
    case "max":
      return extremesOf(vector, grouped, -1);
  }
}

/** The number of values in each group that are not blank. */
function countsOf({ states }: Vector, { groups, placeOf }: PlacedRows): unknown[] {
  const counts = new Float64Array(groups.length);
  for (let row = 0; row < placeOf.length; row += 1) {
    const place = placeOf[row] ?? -1;
    if (place >= 0 && states[row] !== CELL.blank) counts[place] = (counts[place] ?? 0) + 1;
  }
  return Array.from(counts);
}

/** Sums are computed in the table's own order. */
function sumsOf({ values }: NumberVector, { groups, placeOf }: PlacedRows) {
  const sums = new Float64Array(groups.length);
  const counts = new Float64Array(groups.length);
  for (let row = 0; row < placeOf.length; row += 1) {
    const place = placeOf[row] ?? -1;
    const value = values[row] ?? Number.NaN;
    if (place < 0 || Number.isNaN(value)) continue;
    sums[place] = (sums[place] ?? 0) + value;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return { sums, counts };
}

function meansOf(vector: NumberVector, grouped: PlacedRows): unknown[] {
  const { sums, counts } = sumsOf(vector, grouped);
  return Array.from(sums, (sum, place) => {
    const count = counts[place] ?? 0;
    return count === 0 ? null : sum / count;
  });
}

/** The smallest value of each group, or the largest one with the sign -1. */
function extremesOf(
  vector: NumberVector,
  { groups, placeOf }: PlacedRows,
  sign: 1 | -1,
): unknown[] {
  const { values } = vector;
  const extremes = new Float64Array(groups.length).fill(Number.NaN);
  for (let row = 0; row < placeOf.length; row += 1) {
    const place = placeOf[row] ?? -1;
    const value = values[row] ?? Number.NaN;
    if (place < 0 || Number.isNaN(value)) continue;
    // The comparison is not "less than", because the first value must replace NaN.
    if (!(sign * (extremes[place] ?? 0) <= sign * value)) extremes[place] = value;
  }
  return Array.from(extremes, (value) => (Number.isNaN(value) ? null : vector.decode(value)));
}
