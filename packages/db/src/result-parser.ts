import type { Interceptor, QueryResultRow } from "slonik";

/**
 * Checks each row against the schema of its query and hands on what the schema made of it. The
 * error of a mismatch tells the columns, never their values.
 */
export const resultParser: Interceptor = {
  name: "result-parser",
  transformRow: (context, query, row) => {
    const schema = context.resultParser;
    if (schema === undefined) return row;
    const result = schema["~standard"].validate(row);
    if (result instanceof Promise) throw new Error("A result schema must not be asynchronous.");
    if (result.issues !== undefined) {
      const columns = new Set(result.issues.map((issue) => formatPath(issue.path ?? [])));
      throw new RowMismatchError([...columns], query.name ?? firstWords(query.sql));
    }
    if (!isRow(result.value)) throw new Error("A result schema must describe an object.");
    return result.value;
  },
};

/** A row does not look as its query's schema says: the two have drifted apart. */
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
