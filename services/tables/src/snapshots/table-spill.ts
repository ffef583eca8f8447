import { restoreVector } from "../engine/index.ts";
import type { SavedPart, Vector, VectorName } from "../engine/index.ts";
import { Spill } from "../memory/spill.ts";
import type { SpillForm } from "../memory/spill.ts";
import type { SpillDisk } from "../memory/spill-disk.ts";
import type { HeadVersion, TableName } from "../store/states.ts";
import { idOf, Snapshot } from "./snapshot.ts";
import type { LoadedVector, SavedRows, SeenSnapshot } from "./snapshot.ts";

/** Smaller tables are cheap to read, and take up as much room on disk as these. */
const ROWS_MIN = 1_000;
/** The id of the places of the rows. */
const ROWS_ID = "rows";

type SavedSeen = SavedRows & { readonly head: HeadVersion };

const ROWS: SpillForm<SeenSnapshot, SavedSeen> = {
  save: ({ snapshot, head }) => [{ ...snapshot.save(), head }],
  *restore([saved]) {
    yield;
    if (saved === undefined) throw new TypeError("Rows are saved in one part.");
    return { snapshot: Snapshot.of(saved), head: saved.head };
  },
};

const COLUMNS: SpillForm<Vector, SavedPart> = {
  save: (vector) => vector.save(),
  restore: restoreVector,
};

/** The content on disk of one thread. */
export interface TableSpills {
  readonly rows: Spill<SeenSnapshot, SavedSeen>;
  readonly columns: Spill<Vector, SavedPart>;
  /** The fewest rows of a table that is saved. */
  readonly rowsMin: number;
}

/** Opens the stores for tables on a disk. */
export function createTableSpills(disk: SpillDisk, rowsMin = ROWS_MIN): TableSpills {
  return { rows: new Spill(disk, ROWS), columns: new Spill(disk, COLUMNS), rowsMin };
}

/**
 * The content on disk of one table. The places of rows are moved to disk and back, so that their indexes have one
 * history. Columns are copied; a copy stays valid as long as rows keep these indexes.
 */
export class TableSpill {
  readonly #spills: TableSpills | null;
  readonly #table: TableName;

  /** @param spills null where nothing is saved on disk */
  constructor(spills: TableSpills | null, table: TableName) {
    this.#spills = spills;
    this.#table = table;
  }

  /** Saves a column. It has to be called before a column is dropped for want of memory. */
  saveColumn(snapshot: Snapshot, name: VectorName): void {
    const loaded = snapshot.loaded(name);
    if (this.#spills === null || loaded === undefined || !this.#isWorthIt(snapshot)) return;
    const { vector, revision } = loaded;
    const version = { layout: snapshot.layout, revision, isOrdered: vector.isOrdered };
    this.#spills.columns.save(this.#table, idOf(name), vector, { version, bytes: vector.bytes });
  }

  /** Saves a snapshot that is dropped for want of memory, and removes its columns. */
  saveTable(seen: SeenSnapshot): void {
    const { snapshot } = seen;
    for (const column of snapshot.vectors()) {
      this.saveColumn(snapshot, column);
      snapshot.drop(column);
    }
    if (this.#spills === null || !this.#isWorthIt(snapshot)) return;
    const { layout, revision, bytes } = snapshot;
    const version = { layout, revision, isOrdered: false };
    this.#spills.rows.save(this.#table, ROWS_ID, seen, { version, bytes });
  }

  get hasTable(): boolean {
    return this.#spills !== null && this.#spills.rows.find(this.#table, ROWS_ID) !== null;
  }

  /** Takes the last saved snapshot, without columns; null when there is none. */
  async takeTable(): Promise<SeenSnapshot | null> {
    return this.#spills?.rows.take(this.#table, ROWS_ID, { keep: false }) ?? null;
  }

  /** The estimated bytes in memory of a saved column; 0 when there is none for the snapshot. */
  bytesOf(snapshot: Snapshot, name: VectorName): number {
    const kept = this.#spills?.columns.find(this.#table, idOf(name)) ?? null;
    if (kept === null) return 0;
    const { layout, revision } = kept.version;
    return layout === snapshot.layout && revision <= snapshot.revision ? kept.bytes : 0;
  }

  /**
   * Reads a saved column for the snapshot, which may be behind; null when there is none. Rows must keep their
   * indexes meanwhile.
   * @throws the signal's reason when that is aborted first
   */
  async takeColumn(
    snapshot: Snapshot,
    { key, type }: VectorName,
    signal?: AbortSignal,
  ): Promise<LoadedVector | null> {
    const id = idOf({ key, type });
    const kept = this.#spills?.columns.find(this.#table, id) ?? null;
    if (this.#spills === null || kept === null) return null;
    const { layout, revision } = kept.version;
    if (layout !== snapshot.layout || revision > snapshot.revision) return null;
    const vector = await this.#spills.columns.take(this.#table, id, { keep: true, signal });
    if (vector === null || vector.length > snapshot.size) return null;
    return { key, type, vector, revision };
  }

  /** Discards the saved content, which is of no use any more. */
  forget(): void {
    this.#spills?.rows.forget(this.#table);
    this.#spills?.columns.forget(this.#table);
  }

  /** A snapshot that is taking in changes has half-changed columns. */
  #isWorthIt(snapshot: Snapshot): boolean {
    return snapshot.size >= (this.#spills?.rowsMin ?? 0) && !snapshot.isChanging;
  }
}
