import { sql } from "slonik";
import type { PrimitiveValueExpression, QuerySqlToken } from "slonik";
import { z } from "zod";
import type { Queryable } from "./open-database.ts";
import { parseRow } from "./result-parser.ts";

/** Reads rows by statements. */
export type Reading = Pick<Queryable, "any" | "one" | "maybeOne">;

/** A statement as plain data, for the thread that has the connections. */
export interface PlainStatement {
  readonly name: string | undefined;
  readonly sql: string;
  readonly values: readonly PrimitiveValueExpression[];
}

/** Rows as the driver returns them, not yet checked by a schema. */
export type PlainRow = Readonly<Record<string, unknown>>;

const plainRow = z.record(z.string(), z.unknown());

/** Runs a statement that came from another thread. */
export function runPlain(
  database: Pick<Queryable, "any">,
  { name, sql: text, values }: PlainStatement,
): Promise<readonly PlainRow[]> {
  const named = name === undefined ? {} : { name };
  return database.any({ ...sql.type(plainRow)``, ...named, sql: text, values });
}

/** Reads through another thread, which runs the statements; rows are checked and parsed here. */
export function readingThrough(
  run: (statement: PlainStatement) => Promise<readonly PlainRow[]>,
): Reading {
  const any: Reading["any"] = async (query) => {
    const rows = await run(statementOf(query));
    return rows.map((row) => parseRow(query.parser, row, query));
  };
  const maybeOne: Reading["maybeOne"] = async (query) => {
    const rows = await any(query);
    if (rows.length > 1) throw new Error(`A statement gave ${rows.length} rows: ${query.sql}`);
    return rows[0] ?? null;
  };
  const one: Reading["one"] = async (query) => {
    const row = await maybeOne(query);
    if (row === null) throw new Error(`A statement gave no row: ${query.sql}`);
    return row;
  };
  return { any, one, maybeOne };
}

function statementOf({ name, sql: text, values }: QuerySqlToken): PlainStatement {
  return { name, sql: text, values };
}
