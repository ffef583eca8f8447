/**
 * What the value at a row is to its column, in one byte. Bit 1 set: it does not fit the column's type
 * or there is none. Bit 2: only the beginning of its text is kept.
 */
export const CELL = {
  /** It fits; in a JSON column: and is a string. */
  fits: 0,
  /** A value of a JSON column that is no string. */
  structure: 1,
  /** Not of the column's type. */
  mistyped: 2,
  /** Missing, null or "". */
  blank: 3,
  /** Added to `fits` and `structure`. */
  long: 4,
} as const;

/** Whether it is of the column's type. */
export function isFitting(state: number): boolean {
  return (state & CELL.mistyped) === 0;
}

/** Whether a fitting value of a JSON column is a string. */
export function holdsString(state: number): boolean {
  return (state & CELL.structure) === 0;
}

/** Whether only the beginning of its text is kept. */
export function isLong(state: number): boolean {
  return (state & CELL.long) !== 0;
}
