import type { Reading } from "@workflow/db";
import { cutObject } from "../engine/index.ts";
import { findChanges } from "../store/rows-changes.ts";
import type { ChangedRow } from "../store/rows-changes.ts";
import type { HeadVersion, TableKey } from "../store/states.ts";
import { readWholeValues } from "./read-whole-values.ts";
import type { ChangeSet, Lag } from "./snapshot.ts";

/** Above this number of changed rows, a new reading of the asked columns costs less. */
const ROWS_MAX = 20_000;
/** Above this size the changes take too much memory until the last page arrives. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/** The changes of a table since some columns were read, or the reason why there are none. */
export type Gathered =
  | { found: "changes"; changes: ChangeSet; head: HeadVersion }
  /** One statement does not return all changes; a transaction that sees one revision does. */
  | { found: "more" }
  /** A new reading of the asked columns costs less, or takes less memory. */
  | { found: "too much" }
  /** The database has forgotten deletions that the snapshot does not know. */
  | { found: "too old" }
  /** The database has another history than the snapshot. */
  | { found: "another history" }
  | { found: "no table" };

/**
 * Gathers the changes of a table up to one revision.
 * @param options.isFrozen whether all statements see the same revision; otherwise only one statement is made
 */
export async function gatherChanges(
  database: Reading,
  table: TableKey,
  lag: Lag,
  { isFrozen }: { isFrozen: boolean },
): Promise<Gathered> {
  const { keys } = lag;
  const rows = new Map<number, readonly unknown[]>();
  // An import may have written 100,000 rows of the known revision, so the page begins within it.
  let after = { revision: lag.valuesSince + 1, position: -1 };
  let deletions: readonly number[] | null = null;
  let bytes = 0;
  while (rows.size <= ROWS_MAX && bytes <= KEPT_BYTES_MAX) {
    // The first page has all deletions; the later pages see the same revision.
    const upTo = deletions === null ? lag.lastPosition : -1;
    const deleted = { since: lag.revision, upTo };
    const found = await findChanges(database, table, { after, keys, deleted });
    if (found === null) return { found: "no table" };
    const { revision, schemaRevision, history } = found;
    // Commits can be lost without a new history when Postgres does not wait for its disk.
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

/** Adds the large values that a page leaves out, cut to the part that columns keep. */
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
