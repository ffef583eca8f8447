interface TurnBatchesOptions<Item> {
  /** Most items of one batch. */
  itemsMax: number;
  /** Most bytes of one batch; a single item may have more. */
  bytesMax: number;
  /** How many batches run at the same time. Meanwhile further items wait. */
  lanesMax: number;
  bytesOf: (item: Item) => number;
  /** Must not reject. */
  work: (batch: readonly Item[]) => Promise<void>;
}

/**
 * Collects items into batches, in turns between tenants (D57): a batch takes one item of each before it takes a
 * second of one. An item that comes alone does not wait.
 */
export class TurnBatches<Item> {
  readonly #options: TurnBatchesOptions<Item>;
  /** The tenant that was served last is at the end. */
  readonly #waiting = new Map<string, Item[]>();
  readonly #underWay = new Set<Promise<void>>();
  #isDue = false;

  constructor(options: TurnBatchesOptions<Item>) {
    this.#options = options;
  }

  add(tenant: string, item: Item): void {
    const items = this.#waiting.get(tenant);
    if (items === undefined) this.#waiting.set(tenant, [item]);
    else items.push(item);
    if (this.#isDue || this.#underWay.size >= this.#options.lanesMax) return;
    this.#isDue = true;
    setImmediate(() => this.#flush());
  }

  /** Resolves when nothing waits and nothing runs. */
  async drain(): Promise<void> {
    while (this.#underWay.size > 0 || this.#waiting.size > 0) {
      if (this.#underWay.size === 0) this.#flush();
      await Promise.all(this.#underWay);
    }
  }

  #flush(): void {
    this.#isDue = false;
    while (this.#waiting.size > 0 && this.#underWay.size < this.#options.lanesMax) {
      const batch = this.#takeBatch();
      const work = this.#options.work(batch).finally(() => {
        this.#underWay.delete(work);
        this.#flush();
      });
      this.#underWay.add(work);
    }
  }

  #takeBatch(): Item[] {
    const { itemsMax, bytesMax, bytesOf } = this.#options;
    const batch: Item[] = [];
    let bytes = 0;
    for (const [tenant, items] of this.#waiting) {
      const [next] = items;
      if (next === undefined) continue;
      bytes += bytesOf(next);
      if (batch.length > 0 && bytes > bytesMax) break;
      batch.push(next);
      items.shift();
      // The tenant goes to the end of the line: the loop comes to it again.
      this.#waiting.delete(tenant);
      if (items.length > 0) this.#waiting.set(tenant, items);
      if (batch.length === itemsMax) break;
    }
    return batch;
  }
}
