import { sql } from "@workflow/db";
import type { Reading } from "@workflow/db";
import { z } from "zod";
import { bytesAtMost } from "./rows-size.ts";
import { history } from "./states.ts";

const sizeRow = z.object({ position: z.number(), bytes: z.number() });

/** The length of a value in a row. */
export type ValueSize = z.infer<typeof sizeRow>;

const wholeValueRow = z.object({
  position: z.number(),
  /** The revision of the table that wrote the row. */
  revision: z.number(),
  history: z.string(),
  value: z.string().nullable().transform(parseValue),
});

/** The value of a row under a key, however long. */
export type WholeValue = z.infer<typeof wholeValueRow>;

/**
 * The most bytes that the data of the rows at these positions can have. The query is cheap, however long the data
 * is.
 */
export async function findRowSizes(
  database: Reading,
  tableKey: number,
  positions: readonly number[],
): Promise<readonly ValueSize[]> {
  return database.any(sql.prepared("rows_sizes", sizeRow)`
    select "row".position, ${bytesAtMost(sql.fragment`"row".data`)} as "bytes"
    from tables.rows as "row"
    where "row".table_key = ${tableKey} and "row".position = any(${sql.array(positions, "int8")})
  `);
}

/** The lengths of the values under a key as JSON, for the rows at these positions. */
export async function findValueSizes(
  database: Reading,
  tableKey: number,
  key: string,
  positions: readonly number[],
): Promise<readonly ValueSize[]> {
  return database.any(sql.prepared("rows_value_sizes", sizeRow)`
    select
      "row".position,
      coalesce(octet_length(("row".data -> ${key})::text), 0) as "bytes"
    from tables.rows as "row"
    where "row".table_key = ${tableKey} and "row".position = any(${sql.array(positions, "int8")})
  `);
}

/** The whole values under a key, for the rows at these positions that still exist. */
export async function findWholeValues(
  database: Reading,
  tableKey: number,
  key: string,
  positions: readonly number[],
): Promise<readonly WholeValue[]> {
  return database.any(sql.prepared("rows_whole_values", wholeValueRow)`
    select
      "row".position,
      "row".revision,
      ${history} as "history",
      ("row".data -> ${key})::text as "value"
    from tables.rows as "row"
    where "row".table_key = ${tableKey} and "row".position = any(${sql.array(positions, "int8")})
  `);
}

function parseValue(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
