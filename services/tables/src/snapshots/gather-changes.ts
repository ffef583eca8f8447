import type { Queryable } from "@workflow/db";
import { findChanges } from "../store/rows-changes.ts";
import type { ChangedRow } from "../store/rows-changes.ts";
import type { HeadVersion, TableKey } from "../store/states.ts";
import { readWholeValues } from "./read-whole-values.ts";
import type { ChangeSet, Lag } from "./snapshot.ts";

/** When more rows have changed, reading afresh what is asked for costs less. */
const ROWS_MAX = 20_000;

/** How changes are followed. */
export interface Following {
  /** Whether all statements see the same revision; else only one is made. */
  readonly isFrozen: boolean;
  /** Beyond so many rows they are not. */
  readonly rowsMax: number;
}

/** In one statement, when that tells all. */
export const AT_ONCE: Following = { isFrozen: false, rowsMax: ROWS_MAX };
/** In a frozen transaction, while that costs less than reading afresh. */
export const BY_PAGES: Following = { isFrozen: true, rowsMax: ROWS_MAX };
/** However much it is: what was just read afresh would miss as much again. */
export const TO_THE_END: Following = { isFrozen: true, rowsMax: Infinity };

/** Everything that has happened to a table since some columns of it were read, or why that is not told. */
export type Gathered =
  | { found: "changes"; changes: ChangeSet; head: HeadVersion }
  /** One statement does not tell all: a transaction that sees one revision has to. */
  | { found: "more" }
  | { found: "too many rows" }
  /** Deletions are forgotten that nobody here has heard of. */
  | { found: "too old" }
  /** What was read is not of the database's history any more. */
  | { found: "another history" }
  | { found: "no table" };

/** Gathers what has happened to a table, as of one revision. */
export async function gatherChanges(
  database: Queryable,
  table: TableKey,
  lag: Lag,
  { isFrozen, rowsMax }: Following,
): Promise<Gathered> {
  const { keys } = lag;
  const rows = new Map<number, readonly unknown[]>();
  let after = { revision: lag.valuesSince, position: Number.MAX_SAFE_INTEGER };
  let deletions: readonly number[] | null = null;
  while (rows.size <= rowsMax) {
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
    await readLargeValues({ database, table, keys }, found.rows, rows);
    const last = found.rows.at(-1);
    if (!found.more || last === undefined) {
      const changes = { revision, rows, keys, deleted: deletions };
      return { found: "changes", changes, head: { schemaRevision, history } };
    }
    after = { revision: last.revision, position: last.position };
  }
  return { found: "too many rows" };
}

function hasLargeValues(rows: readonly ChangedRow[]): boolean {
  return rows.some(({ large }) => large.length > 0);
}

/** Puts in place what a page leaves out for its size. */
async function readLargeValues(
  { database, table, keys }: { database: Queryable; table: TableKey; keys: readonly string[] },
  changed: readonly ChangedRow[],
  rows: Map<number, readonly unknown[]>,
): Promise<void> {
  for (const [place, key] of keys.entries()) {
    const missing = changed.filter(({ large }) => large.includes(place));
    const positions = missing.map(({ position }) => position);
    for await (const batch of readWholeValues(database, table.tableKey, key, positions)) {
      for (const { position, value } of batch) {
        const values = rows.get(position);
        if (values !== undefined) rows.set(position, values.with(place, value));
      }
    }
  }
}
