/**
 * The state of a row's value in one byte. Bit 1 is set when the value is missing or does not fit the column's type.
 * Bit 2 is set when the vector keeps only the beginning of the text.
 */
export const CELL = {
  /** The value fits; in a JSON column it is a string as well. */
  fits: 0,
  /** A value of a JSON column that is no string. */
  structure: 1,
  /** The value is not of the column's type. */
  mistyped: 2,
  /** The value is missing, null or "". */
  blank: 3,
  /** The mark of a cut text, which is added to `fits` and `structure`. */
  long: 4,
} as const;

/** Whether the value is of the column's type. */
export function isFitting(state: number): boolean {
  return (state & CELL.mistyped) === 0;
}

/** Whether a fitting value of a JSON column is a string. */
export function holdsString(state: number): boolean {
  return (state & CELL.structure) === 0;
}

/** Whether the vector keeps only the beginning of the text. */
export function isLong(state: number): boolean {
  return (state & CELL.long) !== 0;
}
