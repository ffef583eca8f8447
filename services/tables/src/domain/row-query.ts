import type { Column } from "./column.ts";

/** Operators of text-like columns and of JSON. The case of letters does not count. */
export type TextOperator =
  "contains" | "not_contains" | "equals" | "not_equals" | "starts_with" | "ends_with";

/** Operators of types with an order. */
export type OrderOperator =
  | "equals"
  | "not_equals"
  | "greater_than"
  | "greater_than_or_equal"
  | "less_than"
  | "less_than_or_equal";

/**
 * The condition that a clause puts on a column's value. The column's type tells the forms apart.
 */
export type Condition =
  | { on: "text"; operator: TextOperator; value: string }
  | { on: "number"; operator: OrderOperator; value: number }
  | { on: "date"; operator: OrderOperator; value: string }
  | { on: "date"; operator: "between"; start: string; end: string }
  | { on: "boolean"; operator: "equals" | "not_equals"; value: boolean }
  | { on: "blank"; operator: "is_empty" | "is_not_empty" };

/** A list of exact values that a column may have, or may not have. */
export interface ValueList {
  excluded: boolean;
  /** The canonical JSON (`canonicalJson`) of each value that is not blank. */
  values: ReadonlySet<string>;
  /** Whether the list names the blanks. */
  blanks: boolean;
}

/** The restrictions on one column. All of them must hold. */
export interface ColumnClause {
  kind: "column";
  column: Column;
  condition?: Condition;
  list?: ValueList;
}

/**
 * The older form of a clause: the key's value, as text, contains this text in any case. The key may be undeclared.
 * Blanks never match.
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

/** Clauses of which all must hold. An empty filter lets every row pass. */
export type Filter = readonly (ColumnClause | SubstringClause | AnyClause)[];

/** An order by one column. Rows with equal values keep the table's own order. */
export interface Sort {
  column: Column;
  descending: boolean;
}

/** The wanted rows, their order, and the wanted page. */
export interface RowQuery {
  filter: Filter;
  sort: Sort | null;
  limit: number;
  offset: number;
}
