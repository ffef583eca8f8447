import { sql } from "@workflow/db";
import type { Reading, SqlFragment } from "@workflow/db";
import { z } from "zod";
import { bytesAtMost, PARSED_BYTES_MAX, UNPACKED_BYTES_MAX } from "./rows-size.ts";
import { history } from "./states.ts";
import type { TableKey } from "./states.ts";

/** Values that are read into memory by the thousand are cut when their JSON has more bytes. */
const VALUE_BYTES_MAX = 8_192;
/** Of a string: one more than what a column keeps of it, so that it is seen to be longer. */
const STRING_CHARS_MAX = 2_001;

const jsonArray = z.string().transform(parseArray);
const numbers = z.array(z.number());
const numbersText = z.string().transform((text) => numbers.parse(JSON.parse(text)));

const positionsRow = z.object({
  revision: z.number(),
  schemaRevision: z.number(),
  history: z.string(),
  rowCount: z.number(),
  nextPosition: z.number(),
  /** Null when all positions below `nextPosition` have a row. */
  positions: numbersText.nullable(),
});

/** Where all rows of a table lie, and the revision at which they do. */
export type LoadedPositions = z.infer<typeof positionsRow>;

const valuesRow = z.object({
  history: z.string(),
  positions: numbersText,
  values: jsonArray,
  largePositions: numbersText,
  /** A measure for the next batch, as is `bytes`. */
  chars: z.number(),
  /** How long the data of these rows is, perhaps estimated. */
  bytes: z.number(),
  /** False: the data is too long for one statement, and nothing is told of the rows. */
  fits: z.boolean(),
});

/** A part of a column. */
export type LoadedValues = z.infer<typeof valuesRow>;

/** The positions of all rows in their order. Null when the table is gone. */
export async function loadPositions(
  database: Reading,
  { companyId, tableKey }: TableKey,
): Promise<LoadedPositions | null> {
  return database.maybeOne(sql.prepared("rows_load_positions", positionsRow)`
    select
      state.revision,
      state.schema_revision as "schemaRevision",
      ${history} as "history",
      state.row_count as "rowCount",
      state.next_position as "nextPosition",
      case when state.row_count < state.next_position then (
        select coalesce(json_agg(r.position), '[]')::text
        from (
          select "row".position
          from tables.rows as "row"
          where "row".table_key = ${tableKey}
          order by "row".position
        ) as r
      ) end as "positions"
    from tables.table_states as state
    where state.table_key = ${tableKey} and state.company_id = ${companyId}
  `);
}

/**
 * The values that rows have under a key, of the rows between two positions (both included), as far as
 * their data fits into one statement. Long strings are cut; of long objects and arrays only the positions
 * are told. A single row always fits.
 */
export async function loadValues(
  database: Reading,
  tableKey: number,
  key: string,
  range: { first: number; last: number },
): Promise<LoadedValues> {
  const value = sql.fragment`r.value`;
  const ofRange = sql.fragment`
    "row".table_key = ${tableKey} and "row".position between ${range.first} and ${range.last}
  `;
  return database.one(sql.prepared("rows_load_values", valuesRow)`
    with stored as (
      select
        count(*) as count,
        coalesce(sum(${bytesAtMost(sql.fragment`"row".data`)}), 0) as bytes
      from tables.rows as "row"
      where ${ofRange}
    ),
    measured as materialized (
      select
        stored.count,
        case
          when stored.bytes between ${PARSED_BYTES_MAX + 1} and ${UNPACKED_BYTES_MAX} then (
            select sum(octet_length("row".data::text))
            from tables.rows as "row"
            where ${ofRange}
          )
          else stored.bytes
        end as bytes
      from stored
    ),
    fitting as materialized (
      select
        measured.bytes,
        measured.bytes <= ${PARSED_BYTES_MAX} or measured.count = 1 as fits
      from measured
    )
    select
      ${history} as "history",
      fitting.bytes,
      fitting.fits,
      part.positions,
      part.values,
      part."largePositions",
      char_length(part.values) as "chars"
    from (
      select
        coalesce(json_agg(r.position), '[]')::text as "positions",
        coalesce(json_agg(${shortValue(value)}), '[]')::text as "values",
        coalesce(json_agg(r.position) filter (where ${isLargeValue(value)}), '[]')::text
          as "largePositions"
      from (
        select "row".position, "row".data -> ${key} as value
        from tables.rows as "row"
        where ${ofRange} and (select fitting.fits from fitting)
        order by "row".position
      ) as r
    ) as part, fitting
  `);
}

/**
 * A JSON value, unless it is long: of a string the beginning, of an object or array nothing. It should be
 * a column's: an expression would be worked out several times.
 */
export function shortValue(value: SqlFragment): SqlFragment {
  return sql.fragment`
    case
      when octet_length(${value}::text) <= ${VALUE_BYTES_MAX} then ${value}
      when json_typeof(${value}) = 'string' then to_json(left(${value} #>> '{}', ${STRING_CHARS_MAX}))
    end
  `;
}

/** Whether `shortValue` leaves an object or array out. */
export function isLargeValue(value: SqlFragment): SqlFragment {
  return sql.fragment`
    octet_length(${value}::text) > ${VALUE_BYTES_MAX}
      and json_typeof(${value}) in ('object', 'array')
  `;
}

function parseArray(text: string): unknown[] {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value)) throw new TypeError("json_agg gives arrays");
  return value;
}
