/** What one batch may hold. */
export interface BatchLimits<Item> {
  /** The most items. */
  itemsMax: number;
  /** The most that the sizes of its items add up to; a single item may have more. No limit by default. */
  sizeMax?: number | undefined;
  /** Needed with `sizeMax`; in any unit. */
  sizeOf?: ((item: Item) => number) | undefined;
  /** Of items with the same key a batch holds one, and the first one goes first; null: no key. */
  keyOf?: ((item: Item) => string | null) | undefined;
  /** Whether items with a key must stay in line now. Whoever changes that calls `Batcher.resume`. */
  isHeld?: ((key: string) => boolean) | undefined;
}

/** Something that waits for its batch. */
interface Entry<Item> {
  readonly item: Item;
}

/** What waits, and what goes next. */
export interface BatchLine<Item, Of extends Entry<Item>> {
  readonly size: number;
  add(entry: Of): void;
  /** Takes the next batch out; empty when nothing waits, or all of it must stay. */
  take(limits: BatchLimits<Item>): Of[];
}

/** First come, first served. */
export class PlainLine<Item, Of extends Entry<Item>> implements BatchLine<Item, Of> {
  #entries: Of[] = [];

  get size(): number {
    return this.#entries.length;
  }

  add(entry: Of): void {
    this.#entries.push(entry);
  }

  take(limits: BatchLimits<Item>): Of[] {
    const batch = new Batch<Item, Of>(limits);
    const entries = this.#entries;
    const later: Of[] = [];
    let position = 0;
    for (; position < entries.length; position += 1) {
      const entry = entries[position];
      if (entry === undefined || batch.isFullFor(entry)) break;
      if (!batch.add(entry)) later.push(entry);
    }
    const rest = entries.slice(position);
    this.#entries = later.length === 0 ? rest : later.concat(rest);
    return batch.entries;
  }
}

/** In turns between tenants (D57): a batch takes one item of each before it takes a second of one. */
export class TurnLine<Item, Of extends Entry<Item>> implements BatchLine<Item, Of> {
  readonly #tenantOf: (item: Item) => string;
  /** The tenant that was served last is at the end. */
  readonly #queues = new Map<string, Of[]>();
  #size = 0;

  constructor(tenantOf: (item: Item) => string) {
    this.#tenantOf = tenantOf;
  }

  get size(): number {
    return this.#size;
  }

  add(entry: Of): void {
    const tenant = this.#tenantOf(entry.item);
    const queue = this.#queues.get(tenant);
    if (queue === undefined) this.#queues.set(tenant, [entry]);
    else queue.push(entry);
    this.#size += 1;
  }

  take(limits: BatchLimits<Item>): Of[] {
    const batch = new Batch<Item, Of>(limits);
    const later: Of[] = [];
    // The loop comes again to tenants that are put at the end.
    for (const [tenant, queue] of this.#queues) {
      const [entry] = queue;
      if (entry === undefined || batch.isFullFor(entry)) break;
      queue.shift();
      this.#queues.delete(tenant);
      if (queue.length > 0) this.#queues.set(tenant, queue);
      this.#size -= 1;
      if (!batch.add(entry)) later.push(entry);
    }
    for (const entry of later) this.add(entry);
    return batch.entries;
  }
}

/** A batch that is being put together. */
class Batch<Item, Of extends Entry<Item>> {
  readonly entries: Of[] = [];
  readonly #limits: BatchLimits<Item>;
  /** Those of its entries, and of what was left in line in front of others. */
  readonly #keys = new Set<string>();
  #size = 0;

  constructor(limits: BatchLimits<Item>) {
    this.#limits = limits;
  }

  isFullFor({ item }: Of): boolean {
    const { itemsMax, sizeMax = Infinity } = this.#limits;
    const { length } = this.entries;
    return length === itemsMax || (length > 0 && this.#size + this.#sizeOf(item) > sizeMax);
  }

  /** @returns false when the entry has to wait for a later batch */
  add(entry: Of): boolean {
    const { keyOf, isHeld } = this.#limits;
    const key = keyOf?.(entry.item) ?? null;
    if (key !== null) {
      if (this.#keys.has(key)) return false;
      this.#keys.add(key);
      if (isHeld?.(key) === true) return false;
    }
    this.entries.push(entry);
    this.#size += this.#sizeOf(entry.item);
    return true;
  }

  #sizeOf(item: Item): number {
    return this.#limits.sizeOf?.(item) ?? 0;
  }
}
