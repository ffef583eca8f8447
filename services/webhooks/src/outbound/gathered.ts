interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** The options of a batch. */
export interface GatheredOptions<Item, Result> {
  /** Most items of one batch. */
  batchMax: number;
  /** Whether one more item fits into a batch; always by default. */
  fits?: (batch: readonly Item[], next: Item) => boolean;
  /** Handles several items; the results are in the same order. */
  run: (items: readonly Item[]) => Promise<readonly Result[]>;
}

/** Handles items one batch at a time: those that arrive while a batch runs share the next. */
export class Gathered<Item, Result> {
  readonly #options: GatheredOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;

  constructor(options: GatheredOptions<Item, Result>) {
    this.#options = options;
  }

  /** @throws the error of its batch */
  ask(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    // Items that arrive together share a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#run(this.#takeBatch());
    this.#isRunning = false;
  }

  async #run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item));
      for (const [position, result] of results.entries()) batch[position]?.resolve(result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #takeBatch(): Waiting<Item, Result>[] {
    const { batchMax, fits = () => true } = this.#options;
    const batch: Waiting<Item, Result>[] = [];
    const items: Item[] = [];
    for (const waiting of this.#waiting) {
      const isFull = items.length === batchMax || (items.length > 0 && !fits(items, waiting.item));
      if (isFull) break;
      batch.push(waiting);
      items.push(waiting.item);
    }
    this.#waiting = this.#waiting.slice(batch.length);
    return batch;
  }
}
