import type { Interceptor, QueryResultRow, QuerySqlToken } from "slonik";

type Schema = QuerySqlToken["parser"];

/** The result of a schema for a row. */
type Output<Parser extends Schema> = NonNullable<Parser["~standard"]["types"]>["output"];

/**
 * Parses each row with the schema of its query. The error of a mismatch names the columns, never
 * their values.
 */
export const resultParser: Interceptor = {
  name: "result-parser",
  transformRow: (context, query, row) => {
    const schema = context.resultParser;
    if (schema === undefined) return row;
    const parsed = parseRow(schema, row, query);
    if (!isRow(parsed)) throw new Error("A result schema must describe an object.");
    return parsed;
  },
};

/** Parses one row with the schema of its query. */
export function parseRow<Parser extends Schema>(
  schema: Parser,
  row: unknown,
  query: { readonly name?: string | undefined; readonly sql: string },
): Output<Parser> {
  const result = schema["~standard"].validate(row);
  if (result instanceof Promise) throw new Error("A result schema must not be asynchronous.");
  if (result.issues !== undefined) {
    const columns = new Set(result.issues.map((issue) => formatPath(issue.path ?? [])));
    throw new RowMismatchError([...columns], query.name ?? firstWords(query.sql));
  }
  if (!isOutput(schema, result.value)) throw new Error("A result is what its schema gives.");
  return result.value;
}

/**
 * A schema's result has its output type by definition; the general type of schemas does not say so.
 */
function isOutput<Parser extends Schema>(
  _schema: Parser,
  _value: unknown,
): _value is Output<Parser> {
  return true;
}

/** A row that does not match its query's schema: the two have drifted apart. */
export class RowMismatchError extends Error {
  override readonly name = "RowMismatchError";
  readonly columns: string[];

  constructor(columns: string[], query: string) {
    super(`A row does not match the schema of its query at ${columns.join(", ")} (${query})`);
    this.columns = columns;
  }
}

function formatPath(path: readonly (PropertyKey | { key: PropertyKey })[]): string {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  return keys.length === 0 ? "the row itself" : keys.join(".");
}

function firstWords(sql: string): string {
  return sql.trim().replaceAll(/\s+/g, " ").slice(0, 80);
}

function isRow(value: unknown): value is QueryResultRow {
  return typeof value === "object" && value !== null;
}
