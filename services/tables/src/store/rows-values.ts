import { sql } from "@workflow/db";
import type { Reading } from "@workflow/db";
import { z } from "zod";
import { bytesAtMost } from "./rows-size.ts";
import { history } from "./states.ts";

const sizeRow = z.object({ position: z.number(), bytes: z.number() });

/** How long something of a row is. */
export type ValueSize = z.infer<typeof sizeRow>;

const wholeValueRow = z.object({
  position: z.number(),
  /** The table's revision that wrote the row. */
  revision: z.number(),
  history: z.string(),
  value: z.string().nullable().transform(parseValue),
});

/** What a row has under a key, however long. */
export type WholeValue = z.infer<typeof wholeValueRow>;

/** How long the data of rows at these positions is at the most; cheap, however long it is. */
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

/** How long the values under a key are as JSON, of rows at these positions. */
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

/** Whole values under a key, of those rows at these positions that are still there. */
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
