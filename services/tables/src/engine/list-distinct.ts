import type { Column } from "../domain/column.ts";
import { fold } from "../domain/fold.ts";
import type { Filter } from "../domain/row-query.ts";
import { CELL, isFitting } from "./cell-state.ts";
import { filterInSteps } from "./filter-rows.ts";
import { groupInSteps } from "./group-rows.ts";
import type { Group } from "./group-rows.ts";
import { liveMask } from "./mask.ts";
import type { Mask } from "./mask.ts";
import type { RowSource } from "./row-source.ts";
import { finish } from "./steps.ts";
import type { Steps } from "./steps.ts";
import { tellableJson } from "./stored-value.ts";
import { TextVector } from "./text-vector.ts";
import type { Vector } from "./vector.ts";

const BLANKS_LABEL = "(Blanks)";

/** The column and the wanted values. */
export interface DistinctQuery {
  readonly column: Column;
  /** The filter as it is applied. Clauses for the column itself must have been removed. */
  readonly filter: Filter;
  /** A part of the label, in any case; "" for any label. */
  readonly search: string;
  readonly limit: number;
}

/** Different values in the column's order. Mistyped values come after those, and blanks last. */
export interface DistinctValues {
  readonly values: readonly DistinctValue[];
  /** Whether there are more values than the limit, or one is too large to be listed. */
  readonly truncated: boolean;
}

/** A value of a column. */
export interface DistinctValue {
  /** The value as canonical JSON; `null` for blanks. */
  readonly valueJson: string;
  readonly label: string;
  /** The number of rows with this value. */
  readonly count: number;
}

/**
 * Lists the values of a column. A value is left out when its JSON is longer than an operand of a list may be.
 * 100,000 rows take under 0.5 ms, and 5 ms with a search among texts that all differ.
 */
export function listDistinct(source: RowSource, query: DistinctQuery): DistinctValues {
  return finish(distinctInSteps(source, query));
}

/** Does the same as `listDistinct`, in steps. */
export function* distinctInSteps(source: RowSource, query: DistinctQuery): Steps<DistinctValues> {
  const { column, filter, search, limit } = query;
  const vector = source.vector(column.id, column.type);
  const needle = fold(search);
  yield* vector.prepareOrder();
  const mask = yield* filterInSteps(source, filter);
  const found = needle === "" ? undefined : source.longLabels?.(column, search);
  let isOneTooLarge = hasCutValue(vector, mask, found);
  const shown = needle === "" ? mask : yield* narrowToLabels(source, vector, search, mask);
  const { groups, more } = yield* groupInSteps({
    column,
    vector,
    size: source.size,
    mask: shown,
    groupsMax: limit,
    accepts: (first) => {
      if (needle !== "" && !fold(labelOf(vector, first)).includes(needle)) return false;
      const isTellable = jsonOf(vector, first) !== null;
      isOneTooLarge ||= !isTellable;
      return isTellable;
    },
  });
  return {
    values: groups.map((group) => distinctValue(vector, group)),
    truncated: more || isOneTooLarge,
  };
}

function distinctValue(vector: Vector, { first, count }: Group): DistinctValue {
  return { valueJson: jsonOf(vector, first) ?? "null", label: labelOf(vector, first), count };
}

function isBlankAt(vector: Vector, row: number): boolean {
  return vector.states[row] === CELL.blank;
}

function jsonOf(vector: Vector, row: number): string | null {
  return isBlankAt(vector, row) ? "null" : tellableJson(vector.stored(row));
}

function labelOf(vector: Vector, row: number): string {
  return isBlankAt(vector, row) ? BLANKS_LABEL : vector.stored(row).text;
}

/** Whether a row in the mask, and in the set, has a cut value. */
function hasCutValue(vector: Vector, mask: Mask | null, found?: ReadonlySet<number>): boolean {
  return vector
    .cutRows()
    .some((row) => (mask === null || mask[row] === 1) && found?.has(row) !== false);
}

/**
 * Where each row has its own text, one search over all texts is faster than one search for each label.
 */
function* narrowToLabels(
  source: RowSource,
  vector: Vector,
  search: string,
  mask: Mask | null,
): Steps<Mask | null> {
  if (!(vector instanceof TextVector) || !vector.isSpelledOut) return mask;
  const rows = mask ?? liveMask(source);
  const narrowed = rows.slice();
  yield* vector.narrowInSteps({ on: "text", operator: "contains", value: search }, narrowed);
  for (let row = 0; row < rows.length; row += 1) {
    if (!isFitting(vector.states[row] ?? CELL.blank)) narrowed[row] = rows[row] ?? 0;
  }
  return narrowed;
}
