import type { Column } from "./column.ts";

/** Operators of text-like columns and of JSON; letters compare without regard to case. */
export type TextOperator =
  "contains" | "not_contains" | "equals" | "not_equals" | "starts_with" | "ends_with";

/** Operators of what has an order. */
export type OrderOperator =
  | "equals"
  | "not_equals"
  | "greater_than"
  | "greater_than_or_equal"
  | "less_than"
  | "less_than_or_equal";

/** What a clause asks of a column's value, told apart by the column's type. */
export type Condition =
  | { on: "text"; operator: TextOperator; value: string }
  | { on: "number"; operator: OrderOperator; value: number }
  | { on: "date"; operator: OrderOperator; value: string }
  | { on: "date"; operator: "between"; start: string; end: string }
  | { on: "boolean"; operator: "equals" | "not_equals"; value: boolean }
  | { on: "blank"; operator: "is_empty" | "is_not_empty" };

/** Exact values that a column may, or may not, have. */
export interface ValueList {
  excluded: boolean;
  /** Canonical JSON (`canonicalJson`) of each value that is not blank. */
  values: ReadonlySet<string>;
  /** Whether the list names the blanks. */
  blanks: boolean;
}

/** What is asked of one column; all of it must hold. */
export interface ColumnClause {
  kind: "column";
  column: Column;
  condition?: Condition;
  list?: ValueList;
}

/**
 * The older form of a clause: the key's value, as text, contains this, whatever the case. The key may
 * be undeclared; blanks never match.
 */
export interface SubstringClause {
  kind: "substring";
  key: string;
  text: string;
}

/** At least one of the filters holds. */
export interface AnyClause {
  kind: "any";
  filters: readonly Filter[];
}

/** Clauses that must all hold; none: every row. */
export type Filter = readonly (ColumnClause | SubstringClause | AnyClause)[];

/** An order by one column; equal rows stand in the table's own order. */
export interface Sort {
  column: Column;
  descending: boolean;
}

/** Which rows, in which order, and which page of them. */
export interface RowQuery {
  filter: Filter;
  sort: Sort | null;
  limit: number;
  offset: number;
}
