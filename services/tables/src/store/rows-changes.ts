import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { isLargeValue, shortValue } from "./rows-load.ts";
import type { TableKey } from "./states.ts";

const changedRow = z.object({
  position: z.number(),
  /** Of the write that changed it last. */
  revision: z.number(),
  /** One a key. Long strings are cut, long objects and arrays are null. */
  values: z.array(z.unknown()),
  /** Which of the values are objects or arrays too long to be told here, as indices of `values`. */
  large: z.array(z.number()),
});

/** A row that was added or changed. */
export type ChangedRow = z.infer<typeof changedRow>;

const changesRow = z.object({
  revision: z.number(),
  schemaRevision: z.number(),
  deletionsForgottenTo: z.number(),
  rows: z.string().transform((text) => z.array(changedRow).parse(JSON.parse(text))),
  deleted: z.string().transform((text) => z.array(z.number()).parse(JSON.parse(text))),
});

/**
 * What has happened to a table since a revision. `rows` are those changed first, `deleted` the
 * positions of all rows deleted; everything as of `revision`.
 */
export type Changes = z.infer<typeof changesRow>;

/** Reads what has happened to a table after a revision. Null when the table is gone. */
export async function findChanges(
  database: Queryable,
  { companyId, tableKey }: TableKey,
  since: number,
  { keys, limit }: { keys: readonly string[]; limit: number },
): Promise<Changes | null> {
  const data = sql.fragment`changed.data`;
  const key = sql.fragment`wanted.key`;
  return database.maybeOne(sql.prepared("rows_changes", changesRow)`
    select
      state.revision,
      state.schema_revision as "schemaRevision",
      state.deletions_forgotten_to as "deletionsForgottenTo",
      (
        select coalesce(
          json_agg(json_build_object(
            'position', changed.position,
            'revision', changed.revision,
            'values', coalesce(cells.values, '[]'),
            'large', coalesce(cells.large, '[]')
          ) order by changed.revision),
          '[]'
        )::text
        from (
          select "row".position, "row".revision, "row".data
          from tables.rows as "row"
          where "row".table_key = ${tableKey} and "row".revision > ${since}
          order by "row".revision
          limit ${limit}
        ) as changed
        cross join lateral (
          select
            json_agg(${shortValue(data, key)} order by wanted.place) as values,
            json_agg(wanted.place - 1 order by wanted.place)
              filter (where ${isLargeValue(data, key)}) as large
          from unnest(${sql.array(keys, "text")}) with ordinality as wanted (key, place)
        ) as cells
      ) as "rows",
      (
        select coalesce(json_agg(deletion.position), '[]')::text
        from tables.row_deletions as deletion
        where deletion.table_key = ${tableKey} and deletion.revision > ${since}
      ) as "deleted"
    from tables.table_states as state
    where state.table_key = ${tableKey} and state.company_id = ${companyId}
  `);
}
