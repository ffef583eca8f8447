import type { Vector } from "./vector.ts";

/** Whether the vector keeps only the beginning of any fitting value. */
export function hasLong(vector: Vector): boolean {
  return vector.longRows.size > 0;
}

/** The rows with such values, ascending. */
export function longIndexes(vector: Vector): number[] {
  return [...vector.longRows].toSorted((a, b) => a - b);
}
