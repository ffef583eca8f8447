import { sql } from "@workflow/db";
import type { Reading, SqlFragment } from "@workflow/db";
import { z } from "zod";
import { bytesAtMost, PARSED_BYTES_MAX, UNPACKED_BYTES_MAX } from "./rows-size.ts";
import { history } from "./states.ts";
import type { TableKey } from "./states.ts";
import { isLargeValue, shortValue } from "./values-load.ts";

/** More rows than one write may change. */
const PAGE_ROWS = 2_000;
/** Parsing this many bytes keeps the event loop busy for about 10 ms. */
const PAGE_BYTES = 1024 * 1024;
/** The longest value of `shortValue`: 2,001 characters, each as an escape of six. */
const SHORT_VALUE_BYTES_MAX = 12_008;
/** The bytes of a row besides its values. */
const ROW_BYTES = 64;

const changedRow = z.object({
  position: z.number(),
  /** The revision of the write that changed the row last. */
  revision: z.number(),
  /** One value for each key. Long strings are cut; long objects and arrays are null. */
  values: z.array(z.unknown()),
  /** The indices of `values` whose objects or arrays are too long to be included. */
  large: z.array(z.number()),
});

/** A row that was added or changed. */
export type ChangedRow = z.infer<typeof changedRow>;

const changesRow = z.object({
  revision: z.number(),
  schemaRevision: z.number(),
  history: z.string(),
  deletionsForgottenTo: z.number(),
  rows: z.string().transform((text) => z.array(changedRow).parse(JSON.parse(text))),
  /** The estimated bytes of the rows in memory, with only the beginning of large values. */
  bytes: z.number(),
  /** Whether more rows have changed. */
  more: z.boolean(),
  deleted: z.string().transform((text) => z.array(z.number()).parse(JSON.parse(text))),
});

/** The changes of a table, as of `revision`. */
export type Changes = z.infer<typeof changesRow>;

/** Selects the wanted changes. */
export interface WantedChanges {
  /** The row after which the changes begin, in the order of the last writes, then of positions. */
  readonly after: { readonly revision: number; readonly position: number };
  /** The keys whose values are read. */
  readonly keys: readonly string[];
  /**
   * Selects deletions after a revision, of rows up to a position. The reader knows no later rows.
   */
  readonly deleted: { readonly since: number; readonly upTo: number };
}

/**
 * Reads the changes of a table. A page has the first 2,000 changed rows, about 1 MiB of their values, or as many as
 * Postgres can parse in good time, and all deletions. A page has at least one row. Null when the table is gone.
 */
export async function findChanges(
  database: Reading,
  { companyId, tableKey }: TableKey,
  { after, keys, deleted }: WantedChanges,
): Promise<Changes | null> {
  const keyCount = Math.max(keys.length, 1);
  return database.maybeOne(sql.prepared("rows_changes", changesRow)`
    with ${changedCte(tableKey, after)},
    ${pageCtes(keyCount)}
    select
      state.revision,
      state.schema_revision as "schemaRevision",
      ${history} as "history",
      state.deletions_forgotten_to as "deletionsForgottenTo",
      ${rowsOfPage(keys)} as "rows",
      (select coalesce(sum(page.told), 0) from page) as "bytes",
      (select count(*) from changed) > (select count(*) from page) as "more",
      (
        select coalesce(json_agg(deletion.position), '[]')::text
        from tables.row_deletions as deletion
        where deletion.table_key = ${tableKey}
          and deletion.revision > ${deleted.since}
          and deletion.position <= ${deleted.upTo}
      ) as "deleted"
    from tables.table_states as state
    where state.table_key = ${tableKey} and state.company_id = ${companyId}
  `);
}

/** `changed`: the rows after a place, one more than a page may have. Values are not unpacked yet. */
function changedCte(tableKey: number, after: WantedChanges["after"]): SqlFragment {
  return sql.fragment`
    changed as (
      select
        "row".*,
        row_number() over in_order as place,
        sum("row".stored) over in_order - "row".stored as "storedBefore"
      from (
        select
          "row".position, "row".revision, "row".data,
          ${bytesAtMost(sql.fragment`"row".data`)} as stored
        from tables.rows as "row"
        where "row".table_key = ${tableKey}
          -- The index of changes has no other rows.
          and "row".revision > 0
          and ("row".revision, "row".position) > (${after.revision}, ${after.position})
        order by "row".revision, "row".position
        limit ${PAGE_ROWS + 1}
      ) as "row"
      window in_order as (order by "row".revision, "row".position)
    )
  `;
}

/** `page`: the first of `changed`, as many as a page may have. It has their data and sizes. */
function pageCtes(keyCount: number): SqlFragment {
  const shortBytesMax = keyCount * SHORT_VALUE_BYTES_MAX;
  const told = sql.fragment`(${ROW_BYTES} + least(sized.bytes, ${shortBytesMax}::integer))`;
  return sql.fragment`
    sized as materialized (
      select changed.*, octet_length(changed.data::text) as bytes
      from changed
      where changed."storedBefore" < ${UNPACKED_BYTES_MAX}
    ),
    measured as (
      select
        sized.*,
        ${told} as told,
        sum(${told}) over in_order - ${told} as "toldBefore",
        sum(sized.bytes) over in_order - sized.bytes as "bytesBefore"
      from sized
      window in_order as (order by sized.place)
    ),
    page as materialized (
      select measured.*
      from measured
      where measured.place <= ${PAGE_ROWS}
        and measured."toldBefore" < ${PAGE_BYTES}
        and measured."bytesBefore" * ${keyCount}::integer < ${PARSED_BYTES_MAX}
    )
  `;
}

/** A JSON array of the rows in `page`, each as `changedRow` reads it. */
function rowsOfPage(keys: readonly string[]): SqlFragment {
  const value = sql.fragment`cell.value`;
  return sql.fragment`
    (
      select coalesce(
        json_agg(json_build_object(
          'position', page.position,
          'revision', page.revision,
          'values', coalesce(cells.values, '[]'),
          'large', coalesce(cells.large, '[]')
        ) order by page.place),
        '[]'
      )::text
      from page
      cross join lateral (
        select
          json_agg(${shortValue(value)} order by cell.place) as values,
          json_agg(cell.place - 1 order by cell.place)
            filter (where ${isLargeValue(value)}) as large
        from (
          select wanted.place, page.data -> wanted.key as value
          from unnest(${sql.array(keys, "text")}) with ordinality as wanted (key, place)
          -- Keeps the value from being taken out of the data once for each of its uses.
          offset 0
        ) as cell
      ) as cells
    )
  `;
}
