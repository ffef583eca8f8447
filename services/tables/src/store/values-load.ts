import { sql } from "@workflow/db";
import type { Reading, SqlFragment } from "@workflow/db";
import { z } from "zod";
import { DATAS_BYTES, numbersText } from "./rows-load.ts";
import type { RowRange } from "./rows-load.ts";
import { bytesAtMost, PARSED_BYTES_MAX, UNPACKED_BYTES_MAX } from "./rows-size.ts";
import { history } from "./states.ts";

/** Values that are read into memory by the thousand are cut when their JSON has more bytes. */
const VALUE_BYTES_MAX = 8_192;
/** A string is cut to one character more than a column keeps, so that it is seen to be longer. */
const STRING_CHARS_MAX = 2_001;

const valuesRow = z.object({
  history: z.string(),
  /** How long the data of these rows is, perhaps estimated. */
  bytes: z.number(),
  /** False: the data is too long for one statement, and nothing is told of the rows. */
  fits: z.boolean(),
  positions: numbersText,
  /** By key: a JSON array of the values of each row. */
  values: z.array(z.string()),
  /** By key: where objects and arrays are left out for their size. */
  largePositions: z.array(numbersText),
  /** How long the values are; a measure for the next part, as is `bytes`. */
  chars: z.number(),
});

/** A part of some columns. */
export type LoadedValues = z.infer<typeof valuesRow>;

/**
 * The values that the rows of a range have under some keys, if one statement can parse the data once for
 * each key. Long strings are cut; long objects and arrays are told by their positions only.
 * A single row always fits.
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
  // Each number of keys is a statement of its own.
  return database.one(sql.prepared(`rows_load_values_${keys.length}`, valuesRow)`
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
 * A JSON value if it is short, the beginning of a long string, or null for a long object or array. The
 * value should be a column: an expression would be worked out several times.
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
