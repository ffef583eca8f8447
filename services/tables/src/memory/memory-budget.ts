/** Something that takes up memory and can be had again. */
export interface Cached {
  /** A UUID in lower case. */
  readonly companyId: string;
  /** Whether somebody needs it at the moment. */
  readonly inUse: boolean;
  /** Gives the memory back. */
  drop(): void;
}

interface Share {
  /** From the one that was used longest ago to the one used last. */
  readonly entries: Map<Cached, number>;
  bytes: number;
}

/**
 * Keeps what was used last within a number of bytes, by companies. When that is too much, a company that has
 * more than its fair part gives its own back first; so nobody pushes out those who have less. What is in use
 * stays even then; it goes as soon as there is something to be done again. How much can be in use is for
 * `LoadLimits` to say.
 */
export class MemoryBudget {
  readonly #bytesMax: number;
  readonly #onEvicted: () => void;
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  /** @param onEvicted hears of each that is dropped for want of memory */
  constructor(bytesMax: number, onEvicted: () => void) {
    this.#bytesMax = bytesMax;
    this.#onEvicted = onEvicted;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Of what a company has in memory. */
  companyBytes(): ReadonlyMap<string, number> {
    return new Map(this.#shares.entries().map(([company, { bytes }]) => [company, bytes]));
  }

  /** How large the things are that are in use: of one company, or of all. */
  bytesInUse(companyId?: string): number {
    const shares = companyId === undefined ? this.#shares.values() : [this.#shares.get(companyId)];
    let inUse = 0;
    for (const share of shares) {
      for (const [entry, bytes] of share?.entries ?? []) if (entry.inUse) inUse += bytes;
    }
    return inUse;
  }

  /** How large something was when that was noted last; 0 when it is not known. */
  bytesOf(entry: Cached): number {
    return this.#shares.get(entry.companyId)?.entries.get(entry) ?? 0;
  }

  /** Notes that something is used, and how large it is now. */
  use(entry: Cached, bytes: number): void {
    this.forget(entry);
    const share = this.#shares.get(entry.companyId) ?? { entries: new Map(), bytes: 0 };
    this.#shares.set(entry.companyId, share);
    share.entries.set(entry, bytes);
    this.#add(share, bytes);
  }

  /** Notes how large something has become, without its being used. */
  resize(entry: Cached, bytes: number): void {
    const share = this.#shares.get(entry.companyId);
    const before = share?.entries.get(entry);
    if (share === undefined || before === undefined) return;
    share.entries.set(entry, bytes);
    this.#add(share, bytes - before);
  }

  /** Notes that something has gone. */
  forget(entry: Cached): void {
    const share = this.#shares.get(entry.companyId);
    const bytes = share?.entries.get(entry);
    if (share === undefined || bytes === undefined) return;
    share.entries.delete(entry);
    this.#add(share, -bytes);
    if (share.entries.size === 0) this.#shares.delete(entry.companyId);
  }

  /**
   * Drops what was used longest ago until the rest fits: of the company that asks for memory while that has
   * more than its fair part, else of the one that has most.
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
