/** Something that takes up memory or disk and can be made again. */
export interface Cached {
  /** A UUID in lower case. */
  readonly companyId: string;
  /** Whether somebody needs it now. */
  readonly inUse: boolean;
  /** Releases the memory. */
  drop(): void;
}

interface Share {
  /** The entries from the least to the most recently used one. */
  readonly entries: Map<Cached, number>;
  bytes: number;
}

/**
 * Keeps the most recently used entries within a number of bytes, by company. Beyond that a company with more than
 * its fair part loses its own entries first, so nobody pushes out those who have less. Entries in use stay; they go
 * at a later trim. `LoadLimits` limits how much can be in use.
 */
export class MemoryBudget {
  readonly #bytesMax: number;
  readonly #onEvicted: () => void;
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  /** @param onEvicted called for each entry that is dropped for want of memory */
  constructor(bytesMax: number, onEvicted: () => void) {
    this.#bytesMax = bytesMax;
    this.#onEvicted = onEvicted;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The bytes of each company. */
  companyBytes(): ReadonlyMap<string, number> {
    return new Map(this.#shares.entries().map(([company, { bytes }]) => [company, bytes]));
  }

  /** The bytes of entries in use: of one company, or of all. */
  bytesInUse(companyId?: string): number {
    const shares = companyId === undefined ? this.#shares.values() : [this.#shares.get(companyId)];
    let inUse = 0;
    for (const share of shares) {
      for (const [entry, bytes] of share?.entries ?? []) if (entry.inUse) inUse += bytes;
    }
    return inUse;
  }

  /** The last recorded size of an entry; 0 when it is unknown. */
  bytesOf(entry: Cached): number {
    return this.#shares.get(entry.companyId)?.entries.get(entry) ?? 0;
  }

  /** Records a use of an entry, and its size. */
  use(entry: Cached, bytes: number): void {
    this.forget(entry);
    const share = this.#shares.get(entry.companyId) ?? { entries: new Map(), bytes: 0 };
    this.#shares.set(entry.companyId, share);
    share.entries.set(entry, bytes);
    this.#add(share, bytes);
  }

  /** Records the size of an entry without a use. */
  resize(entry: Cached, bytes: number): void {
    const share = this.#shares.get(entry.companyId);
    const before = share?.entries.get(entry);
    if (share === undefined || before === undefined) return;
    share.entries.set(entry, bytes);
    this.#add(share, bytes - before);
  }

  /** Records that an entry is gone. */
  forget(entry: Cached): void {
    const share = this.#shares.get(entry.companyId);
    const bytes = share?.entries.get(entry);
    if (share === undefined || bytes === undefined) return;
    share.entries.delete(entry);
    this.#add(share, -bytes);
    if (share.entries.size === 0) this.#shares.delete(entry.companyId);
  }

  /**
   * Drops the least recently used entries until the rest fits. They are those of the given company while it has
   * more than its fair part, otherwise those of the largest company.
   */
  trim(companyId: string): void {
    while (this.#bytes > this.#bytesMax) {
      const victim = this.#victimFor(companyId);
      if (victim === null) return;
      this.forget(victim);
      victim.drop();
      this.#onEvicted();
    }
  }

  #victimFor(companyId: string): Cached | null {
    const fair = this.#bytesMax / Math.max(this.#shares.size, 1);
    const own = this.#shares.get(companyId);
    if (own !== undefined && own.bytes > fair) {
      const victim = firstIdle(own);
      if (victim !== null) return victim;
    }
    const others = [...this.#shares.values()].toSorted((a, b) => b.bytes - a.bytes);
    for (const share of others) {
      const victim = firstIdle(share);
      if (victim !== null) return victim;
    }
    return null;
  }

  #add(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
  }
}

function firstIdle({ entries }: Share): Cached | null {
  for (const entry of entries.keys()) if (!entry.inUse) return entry;
  return null;
}
