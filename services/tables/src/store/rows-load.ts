import { sql } from "@workflow/db";
import type { Reading } from "@workflow/db";
import { z } from "zod";
import { bytesAtMost } from "./rows-size.ts";
import { history } from "./states.ts";
import type { TableKey } from "./states.ts";

/**
 * The most bytes of whole rows in one statement. They cross to a thread, which parses them in about 10 ms.
 */
export const DATAS_BYTES = 1024 * 1024;
/**
 * The separator between two JSON texts. JSON contains control characters only in escaped form, apart from four
 * kinds of white space.
 */
export const DATAS_SEPARATOR = "\u001e";
/** The number of rows follows from the length of earlier ones, and the next rows may be longer. */
const DATAS_BYTES_MAX = 2 * DATAS_BYTES;
/** A larger table is not read by one statement. */
const SMALL_TABLE_ROWS = 10_000;

const numbers = z.array(z.number());

/** Numbers that Postgres returns as a JSON array. */
export const numbersText = z.string().transform((text) => numbers.parse(JSON.parse(text)));

const positionsRow = z.object({
  revision: z.number(),
  schemaRevision: z.number(),
  history: z.string(),
  rowCount: z.number(),
  nextPosition: z.number(),
  /** Null when all positions below `nextPosition` have a row. */
  positions: numbersText.nullable(),
  /** The data of all rows as a JSON array, when the caller wants it and the table is small. */
  datas: z.string().nullable(),
});

/** The positions of all rows of a table, and the revision for which they hold. */
export type LoadedPositions = z.infer<typeof positionsRow>;

/** The rows between two positions, both included. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
  /** The number of rows when none of them was deleted. */
  readonly rows: number;
}

const datasRow = z.object({
  history: z.string(),
  /** The bytes in the data of these rows, perhaps estimated. */
  bytes: z.number(),
  /** False when the data is too long for one statement. The answer then has no rows. */
  fits: z.boolean(),
  /** Null when no row of the range is missing. */
  positions: numbersText.nullable(),
  /** The data of each row as JSON, with `DATAS_SEPARATOR` between two of them. */
  datas: z.string(),
});

/** Some rows with all of their data. */
export type LoadedDatas = z.infer<typeof datasRow>;

/**
 * The positions of all rows in their order. For a small table all data is included when the caller wants it. Null
 * when the table is gone.
 */
export async function loadPositions(
  database: Reading,
  { companyId, tableKey }: TableKey,
  { withDatas }: { withDatas: boolean },
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
      ) end as "positions",
      case
        when ${withDatas}::boolean
          and state.row_count <= ${SMALL_TABLE_ROWS} and state.row_bytes <= ${DATAS_BYTES}
        then (
          select '[' || coalesce(string_agg(r.data::text, ','), '') || ']'
          from (
            select "row".data
            from tables.rows as "row"
            where "row".table_key = ${tableKey}
            order by "row".position
          ) as r
        )
      end as "datas"
    from tables.table_states as state
    where state.table_key = ${tableKey} and state.company_id = ${companyId}
  `);
}

/** All data of the rows of a range, as far as it fits into one statement. */
export async function loadDatas(
  database: Reading,
  tableKey: number,
  range: RowRange,
): Promise<LoadedDatas> {
  const ofRange = sql.fragment`
    "row".table_key = ${tableKey} and "row".position between ${range.first} and ${range.last}
  `;
  return database.one(sql.prepared("rows_load_datas", datasRow)`
    with stored as materialized (
      select
        count(*) as count,
        coalesce(sum(${bytesAtMost(sql.fragment`"row".data`)}), 0) as bytes
      from tables.rows as "row"
      where ${ofRange}
    )
    select
      ${history} as "history",
      stored.bytes,
      stored.bytes <= ${DATAS_BYTES_MAX} as "fits",
      case when stored.count < ${range.rows} then coalesce(part.positions, '[]') end as "positions",
      coalesce(part.datas, '') as "datas"
    from stored
    cross join lateral (
      select
        string_agg(r.data::text, ${DATAS_SEPARATOR}) as datas,
        (json_agg(r.position) filter (where stored.count < ${range.rows}))::text as positions
      from (
        select "row".position, "row".data
        from tables.rows as "row"
        where ${ofRange} and stored.bytes <= ${DATAS_BYTES_MAX}
        order by "row".position
      ) as r
    ) as part
  `);
}
