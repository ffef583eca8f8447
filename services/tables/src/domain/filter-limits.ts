/** How much one filter may ask for (the contract's Limits); nested filters count with it. */
export const FILTER_LIMITS = {
  /** Characters of the whole filter as JSON without white space. */
  chars: 50_000,
  /** Clauses; a column that several filters of an `any` group name counts for each. */
  columns: 20,
  /** Included or excluded values of a clause. */
  listValues: 500,
  /** Included and excluded values of all clauses. */
  exactValues: 1_000,
  /** Characters, as JSON, of a condition, a scalar or a listed value. */
  operandChars: 2_000,
  /** `any` groups inside each other. */
  anyDepth: 5,
  /** Filters of all `any` groups. */
  anyFilters: 100,
} as const;
