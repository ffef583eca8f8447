import type { VectorName } from "../engine/index.ts";
import { SharedWork } from "./shared-work.ts";
import { idOf } from "./snapshot.ts";

/** One scan under way, and its columns. */
interface Scan {
  readonly ids: Set<string>;
  readonly work: SharedWork;
}

/** Reads columns in one scan of the table, until the signal is aborted. */
export type ReadColumns = (names: readonly VectorName[], signal: AbortSignal) => Promise<void>;

/**
 * Reads columns of one table. Questions that miss the same column share one reading of it. A scan ends early when
 * nobody waits for it any more.
 */
export class ColumnScans {
  readonly #read: ReadColumns;
  readonly #running = new Set<Scan>();

  constructor(read: ReadColumns) {
    this.#read = read;
  }

  /**
   * Reads the columns that a question misses: it joins the scans that read some of them, and begins one for the
   * others.
   * @param missing returns the columns that are missing now
   * @throws the signal's reason when that is aborted first
   */
  async read(missing: () => readonly VectorName[], signal?: AbortSignal): Promise<void> {
    const names = missing();
    const wanted = new Set(names.map(idOf));
    const joined = [...this.#running].filter(
      ({ ids, work }) => !work.isAbandoned && [...wanted].some((id) => ids.has(id)),
    );
    const own = names.filter((name) => !joined.some(({ ids }) => ids.has(idOf(name))));
    const others = Promise.allSettled(joined.map(({ work }) => work.wait(signal)));
    if (own.length > 0) await this.#scan(own).wait(signal);
    for (const [place, { status }] of (await others).entries()) {
      const scan = joined[place];
      if (status === "fulfilled" || scan === undefined) continue;
      // A scan of other columns as well may have been refused for one of those.
      if ([...scan.ids].every((id) => wanted.has(id))) await scan.work.wait(signal);
      signal?.throwIfAborted();
      // Other waiting questions begin anew as well, and the first of them reads the shared columns.
      await this.read(missing, signal);
    }
  }

  #scan(names: readonly VectorName[]): SharedWork {
    const work = new SharedWork((signal) => this.#read(names, signal));
    const scan = { ids: new Set(names.map(idOf)), work };
    this.#running.add(scan);
    void work.over().then(() => this.#running.delete(scan));
    return work;
  }
}
