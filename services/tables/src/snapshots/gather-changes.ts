import type { Reading } from "@workflow/db";
import { cutObject } from "../engine/index.ts";
import { findChanges } from "../store/rows-changes.ts";
import type { ChangedRow } from "../store/rows-changes.ts";
import type { HeadVersion, TableKey } from "../store/states.ts";
import { readWholeValues } from "./read-whole-values.ts";
import type { ChangeSet, Lag } from "./snapshot.ts";

/** When more rows have changed, reading afresh what is asked for costs less. */
const ROWS_MAX = 20_000;
/** When more has to be kept in memory until everything is told. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/** Everything that has happened to a table since some columns of it were read, or why that is not told. */
export type Gathered =
  | { found: "changes"; changes: ChangeSet; head: HeadVersion }
  /** One statement does not tell all: a transaction that sees one revision has to. */
  | { found: "more" }
  /** To read afresh what is asked for costs less, or takes less memory. */
  | { found: "too much" }
  /** Deletions are forgotten that nobody here has heard of. */
  | { found: "too old" }
  /** What was read is not of the database's history any more. */
  | { found: "another history" }
  | { found: "no table" };

/**
 * Gathers what has happened to a table, as of one revision.
 *
 * @param options.isFrozen whether all statements see the same revision; else only one is made
 */
export async function gatherChanges(
  database: Reading,
  table: TableKey,
  lag: Lag,
  { isFrozen }: { isFrozen: boolean },
): Promise<Gathered> {
  const { keys } = lag;
  const rows = new Map<number, readonly unknown[]>();
  // Not the end of the revision that is known: an import may have written 100,000 rows of it, which would be passed by.
  let after = { revision: lag.valuesSince + 1, position: -1 };
  let deletions: readonly number[] | null = null;
  let bytes = 0;
  while (rows.size <= ROWS_MAX && bytes <= KEPT_BYTES_MAX) {
    // The first page tells all deletions; the others are as of the same revision.
    const upTo = deletions === null ? lag.lastPosition : -1;
    const deleted = { since: lag.revision, upTo };
    const found = await findChanges(database, table, { after, keys, deleted });
    if (found === null) return { found: "no table" };
    const { revision, schemaRevision, history } = found;
    // Commits may also be lost without a new history, when Postgres does not wait for its disk.
    if (history !== lag.history || revision < lag.revision) return { found: "another history" };
    if (lag.revision < found.deletionsForgottenTo) return { found: "too old" };
    if (!isFrozen && (found.more || hasLargeValues(found.rows))) return { found: "more" };
    deletions ??= found.deleted;
    for (const row of found.rows) rows.set(row.position, row.values);
    bytes += found.bytes;
    await readLargeValues({ database, table, keys }, found.rows, rows);
    const last = found.rows.at(-1);
    if (!found.more || last === undefined) {
      const changes = { revision, rows, keys, deleted: deletions };
      return { found: "changes", changes, head: { schemaRevision, history } };
    }
    after = { revision: last.revision, position: last.position };
  }
  return { found: "too much" };
}

function hasLargeValues(rows: readonly ChangedRow[]): boolean {
  return rows.some(({ large }) => large.length > 0);
}

/** Puts in place what a page leaves out for its size, as far as columns keep it. */
async function readLargeValues(
  { database, table, keys }: { database: Reading; table: TableKey; keys: readonly string[] },
  changed: readonly ChangedRow[],
  rows: Map<number, readonly unknown[]>,
): Promise<void> {
  for (const [place, key] of keys.entries()) {
    const missing = changed.filter(({ large }) => large.includes(place));
    const positions = missing.map(({ position }) => position);
    for await (const batch of readWholeValues(database, table.tableKey, key, positions)) {
      for (const { position, value } of batch) {
        const values = rows.get(position);
        const isObject = typeof value === "object" && value !== null;
        const kept = isObject ? cutObject(value) : value;
        if (values !== undefined) rows.set(position, values.with(place, kept));
      }
    }
  }
}
