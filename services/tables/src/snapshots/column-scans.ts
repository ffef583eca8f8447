import type { VectorName } from "../engine/index.ts";
import { idOf } from "./snapshot.ts";

/** Columns that are being read. */
interface Scan {
  readonly ids: Set<string>;
  readonly done: Promise<void>;
}

/** Reads columns of one table; questions that miss the same column wait for the same reading of it. */
export class ColumnScans {
  readonly #read: (names: readonly VectorName[]) => Promise<void>;
  readonly #running = new Set<Scan>();

  /** @param read reads columns in one scan of the table */
  constructor(read: (names: readonly VectorName[]) => Promise<void>) {
    this.#read = read;
  }

  /**
   * Has columns read that a question misses. It waits for those that are being read, and reads the others.
   *
   * @param missing the columns that are missing now
   */
  async read(missing: () => readonly VectorName[]): Promise<void> {
    const names = missing();
    const wanted = new Set(names.map(idOf));
    const joined = [...this.#running].filter(({ ids }) => [...wanted].some((id) => ids.has(id)));
    const own = names.filter((name) => !joined.some(({ ids }) => ids.has(idOf(name))));
    const others = Promise.allSettled(joined.map(({ done }) => done));
    if (own.length > 0) await this.#scan(own);
    for (const [place, { status }] of (await others).entries()) {
      const scan = joined[place];
      if (status === "fulfilled" || scan === undefined) continue;
      // Otherwise the scan may have been refused for a column that this question does not need.
      if ([...scan.ids].every((id) => wanted.has(id))) await scan.done;
      // Others that waited begin anew as well: whoever is first reads what they share.
      await this.read(missing);
    }
  }

  async #scan(names: readonly VectorName[]): Promise<void> {
    const scan = { ids: new Set(names.map(idOf)), done: this.#read(names) };
    this.#running.add(scan);
    try {
      await scan.done;
    } finally {
      this.#running.delete(scan);
    }
  }
}
