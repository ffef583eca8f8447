/** The limits of one filter (the contract's Limits). Nested filters count with it. */
export const FILTER_LIMITS = {
  /** Characters of the whole filter as JSON without white space. */
  chars: 50_000,
  /** Clauses. A column counts once for each filter of an `any` group that names it. */
  columns: 20,
  /** Included or excluded values of a clause. */
  listValues: 500,
  /** Included and excluded values of all clauses. */
  exactValues: 1_000,
  /** Characters, as JSON, of a condition, a scalar or a listed value. */
  operandChars: 2_000,
  /** The depth of nested `any` groups. */
  anyDepth: 5,
  /** The filters of all `any` groups together. */
  anyFilters: 100,
} as const;
