import type { Queryable } from "@workflow/db";
import { findChanges } from "../store/rows-changes.ts";
import type { ChangedRow } from "../store/rows-changes.ts";
import type { TableKey } from "../store/states.ts";
import { readWholeValues } from "./read-whole-values.ts";
import type { ChangeSet } from "./snapshot.ts";

/** More than the rows that one write may change, so that a page holds at least one write whole. */
const PAGE_ROWS = 2_000;
/** When there is more to catch up with, reading afresh what is asked for costs less. */
const PAGES_MAX = 10;

/** Everything that has happened to a table since a revision, or why that cannot be told. */
export type Gathered =
  | { found: "changes"; changes: ChangeSet; schemaRevision: number }
  | { found: "too much" }
  | { found: "no table" };

/**
 * Gathers what has happened to a table after a revision, with the values under the keys. Each page is
 * read as of a later revision than the one before; what has changed in between comes again with the
 * later page. The last page is the one that nothing is missing from, so all is as of its revision.
 */
export async function gatherChanges(
  database: Queryable,
  table: TableKey,
  since: number,
  keys: readonly string[],
): Promise<Gathered> {
  const rows = new Map<number, readonly unknown[]>();
  const deleted = new Set<number>();
  let reached = since;
  for (let page = 0; page < PAGES_MAX; page++) {
    const found = await findChanges(database, table, reached, { keys, limit: PAGE_ROWS });
    if (found === null) return { found: "no table" };
    if (reached < found.deletionsForgottenTo) return { found: "too much" };
    for (const row of found.rows) rows.set(row.position, row.values);
    for (const position of found.deleted) deleted.add(position);
    const { revision, schemaRevision } = found;
    const readAt = await readLargeValues(database, table, keys, found.rows, rows);
    if (found.rows.length < PAGE_ROWS) {
      // A value that was read apart may be newer than the page; the next page tells what else is.
      if (readAt > revision) continue;
      const changes = { revision, rows, keys, deleted: [...deleted] };
      return { found: "changes", changes, schemaRevision };
    }
    const last = found.rows.at(-1)?.revision ?? reached;
    // The last write of a full page may go on behind it.
    if (last - 1 <= reached) return { found: "too much" };
    reached = last - 1;
  }
  return { found: "too much" };
}

/**
 * Puts in place what a page leaves out for its size, and returns the latest revision at which any of
 * it was written; infinity when a row is gone by now.
 */
async function readLargeValues(
  database: Queryable,
  { tableKey }: TableKey,
  keys: readonly string[],
  changed: readonly ChangedRow[],
  rows: Map<number, readonly unknown[]>,
): Promise<number> {
  let latest = 0;
  for (const [place, key] of keys.entries()) {
    const missing = new Set(
      changed.filter(({ large }) => large.includes(place)).map(({ position }) => position),
    );
    for await (const batch of readWholeValues(database, tableKey, key, [...missing])) {
      for (const { position, revision, value } of batch) {
        missing.delete(position);
        latest = Math.max(latest, revision);
        const values = rows.get(position);
        if (values !== undefined) rows.set(position, values.with(place, value));
      }
    }
    if (missing.size > 0) return Number.POSITIVE_INFINITY;
  }
  return latest;
}
