import { sql } from "@workflow/db";
import type { Reading, SqlFragment } from "@workflow/db";
import { z } from "zod";
import { DATAS_BYTES, numbersText } from "./rows-load.ts";
import type { RowRange } from "./rows-load.ts";
import { bytesAtMost, PARSED_BYTES_MAX, UNPACKED_BYTES_MAX } from "./rows-size.ts";
import { history } from "./states.ts";

/**
 * Thousands of values are read into memory together. A value is cut when its JSON has more bytes than this.
 */
const VALUE_BYTES_MAX = 8_192;
/** A cut string has one character more than a column keeps, so that the reader sees the cut. */
const STRING_CHARS_MAX = 2_001;

const valuesRow = z.object({
  history: z.string(),
  /** The bytes in the data of these rows, perhaps estimated. */
  bytes: z.number(),
  /** False when the data is too long for one statement. The answer then has no rows. */
  fits: z.boolean(),
  positions: numbersText,
  /** A JSON array for each key, with the values of the rows. */
  values: z.array(z.string()),
  /** The positions for each key where an object or array was too large to be included. */
  largePositions: z.array(numbersText),
  /** The characters of the values. Like `bytes`, the number helps to size the next part. */
  chars: z.number(),
});

/** A part of some columns. */
export type LoadedValues = z.infer<typeof valuesRow>;

/**
 * The values of a range's rows under some keys, if one statement can parse the data once for each key. Long strings
 * are cut. For long objects and arrays only the positions are returned. A single row always fits.
 */
export async function loadValues(
  database: Reading,
  tableKey: number,
  keys: readonly string[],
  range: RowRange,
): Promise<LoadedValues> {
  const ofRange = sql.fragment`
    "row".table_key = ${tableKey} and "row".position between ${range.first} and ${range.last}
  `;
  const parsedMax = Math.floor(PARSED_BYTES_MAX / keys.length);
  const all = (parts: SqlFragment[]) => sql.join(parts, sql.fragment`, `);
  const names = keys.map((_, place) => sql.identifier(["r", `value${place}`]));
  const values = keys.map(
    (key, place) => sql.fragment`"row".data -> ${key} as ${sql.identifier([`value${place}`])}`,
  );
  const short = names.map((value) => {
    const kept = shortValue(sql.fragment`${value}`);
    return sql.fragment`coalesce(json_agg(${kept}), '[]')::text`;
  });
  const large = names.map((value) => {
    const isLarge = isLargeValue(sql.fragment`${value}`);
    return sql.fragment`coalesce(json_agg(r.position) filter (where ${isLarge}), '[]')::text`;
  });
  // Each number of keys makes another statement.
  return database.one(sql.prepared(`rows_load_values_${keys.length}`, valuesRow)`
    with ${fittingCtes(ofRange, parsedMax)}
    select
      ${history} as "history",
      fitting.bytes,
      fitting.fits,
      part.positions,
      part.values,
      part."largePositions",
      char_length(array_to_string(part.values, '')) as "chars"
    from (
      select
        coalesce(json_agg(r.position), '[]')::text as "positions",
        array[${all(short)}] as "values",
        array[${all(large)}] as "largePositions"
      from (
        select "row".position, ${all(values)}
        from tables.rows as "row"
        where ${ofRange} and (select fitting.fits from fitting)
        order by "row".position
      ) as r
    ) as part, fitting
  `);
}

/**
 * `fitting (bytes, fits)`: one row, which says how many bytes the data of a range has, and whether one
 * statement can parse it. Data is unpacked to be measured only where the estimate leaves that open.
 */
function fittingCtes(ofRange: SqlFragment, parsedMax: number): SqlFragment {
  return sql.fragment`
    stored as (
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
          when stored.bytes between ${DATAS_BYTES} and ${UNPACKED_BYTES_MAX} then (
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
        measured.bytes <= ${parsedMax} or measured.count = 1 as fits
      from measured
    )
  `;
}

/**
 * A JSON value if it is short, the beginning of a long string, or null for a long object or array. The argument
 * should be a column, because an expression would be computed several times.
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
