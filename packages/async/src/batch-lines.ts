/** The limits of one batch. */
export interface BatchLimits<Item> {
  /** The limit of items. */
  itemsMax: number;
  /** The limit of all sizes together; a single item may exceed it. Unlimited by default. */
  sizeMax?: number | undefined;
  /** The size of an item, in any unit; required with `sizeMax`. */
  sizeOf?: ((item: Item) => number) | undefined;
  /** The key of an item; null without one. A batch has one item for each key, the first one first. */
  keyOf?: ((item: Item) => string | null) | undefined;
  /** Whether items with a key must wait for now. Call `Batcher.resume` when that changes. */
  isHeld?: ((key: string) => boolean) | undefined;
}

/** An item that waits for its batch. */
interface Entry<Item> {
  readonly item: Item;
}

/** The waiting items, in the order of the next batches. */
export interface BatchLine<Item, Of extends Entry<Item>> {
  readonly size: number;
  add(entry: Of): void;
  /** Removes the next batch; empty when no item waits, or all must wait. */
  take(limits: BatchLimits<Item>): Of[];
}

/** A line in the order of arrival. */
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

/** A line with turns between tenants (D57): a batch takes one item of each before it takes a second of one. */
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
    // The loop visits a tenant again after moving it to the end.
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

/** A batch while it is filled. */
class Batch<Item, Of extends Entry<Item>> {
  readonly entries: Of[] = [];
  readonly #limits: BatchLimits<Item>;
  /** The keys of the batch's entries, and of entries that stay in line in front of others. */
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
