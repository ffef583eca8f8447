import { PlainLine, TurnLine } from "./batch-lines.ts";
import type { BatchLimits, BatchLine } from "./batch-lines.ts";

/** An item of a batch, and the promise of its caller. */
export interface Asked<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | PromiseLike<Result>) => void;
  readonly reject: (error: unknown) => void;
}

/** The limits of batches, and the function that handles them. */
export interface BatcherOptions<Item, Result> extends BatchLimits<Item> {
  /** The limit of concurrent batches; further items gather meanwhile. Unlimited by default. */
  batchesMax?: number | undefined;
  /** The tenant of an item. With it, batches are filled in turns between tenants (D57). */
  tenantOf?: ((item: Item) => string) | undefined;
  /** Resolves or rejects each item of a batch. An error that it throws rejects all remaining items. */
  handle: (batch: readonly Asked<Item, Result>[]) => Promise<void>;
  /**
   * Whether the batch's items are handled one by one after such an error, so that the cause of the
   * error fails alone. Never by default. `handle` must not have answered an item before such an error,
   * because that item would be handled twice.
   */
  isOfOneItem?: ((error: unknown) => boolean) | undefined;
  /** Called when no item waits or is handled any more. */
  onIdle?: (() => void) | undefined;
}

/**
 * Gathers single items and handles them in batches. A batch begins in the next turn of the event loop,
 * so items that arrive together share it, and a single item does not wait. With the maximum of
 * concurrent batches, further items wait for the next one.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #batchesMax: number;
  readonly #line: BatchLine<Item, Asked<Item, Result>>;
  #underWay = 0;
  #isDue = false;
  #idleWaiters: (() => void)[] = [];

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
    this.#batchesMax = options.batchesMax ?? Infinity;
    this.#line = options.tenantOf === undefined ? new PlainLine() : new TurnLine(options.tenantOf);
  }

  /** @returns the result of the item */
  ask(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#line.add({ item, resolve, reject });
      this.resume();
    });
  }

  /** Begins a batch soon, if possible. Call it when items need not wait any more (`isHeld`). */
  resume(): void {
    if (this.#isDue || this.#underWay >= this.#batchesMax || this.#line.size === 0) return;
    this.#isDue = true;
    setImmediate(this.#beginDue);
  }

  /** Resolves when no item waits or is handled. */
  async whenIdle(): Promise<void> {
    if (!this.#isIdle()) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  readonly #beginDue = (): void => {
    this.#isDue = false;
    this.#begin();
  };

  #begin(): void {
    while (this.#underWay < this.#batchesMax && this.#line.size > 0) {
      const batch = this.#line.take(this.#options);
      if (batch.length === 0) break;
      void this.#run(batch);
    }
    if (this.#isIdle()) this.#tellIdle();
  }

  async #run(batch: readonly Asked<Item, Result>[]): Promise<void> {
    this.#underWay += 1;
    await this.#handle(batch);
    this.#underWay -= 1;
    this.#begin();
  }

  /** Never rejects. */
  async #handle(batch: readonly Asked<Item, Result>[]): Promise<void> {
    const { handle, isOfOneItem } = this.#options;
    try {
      await handle(batch);
    } catch (error) {
      const alone = batch.length > 1 && isOfOneItem?.(error) === true;
      if (alone) for (const each of batch) await this.#handle([each]);
      // An item that has its answer ignores the rejection.
      else for (const { reject } of batch) reject(error);
    }
  }

  #isIdle(): boolean {
    return this.#underWay === 0 && !this.#isDue && this.#line.size === 0;
  }

  #tellIdle(): void {
    for (const resolve of this.#idleWaiters) resolve();
    this.#idleWaiters = [];
    this.#options.onIdle?.();
  }
}

/** Makes `handle` from a function that answers all items of a batch at once, in their order. */
export function answerTogether<Item, Result>(
  answer: (items: readonly Item[]) => Promise<readonly (Result | PromiseLike<Result>)[]>,
): BatcherOptions<Item, Result>["handle"] {
  return async (batch) => {
    const answers = await answer(batch.map(({ item }) => item));
    // An item without an answer would wait for ever.
    if (answers.length < batch.length) throw new Error("A batch has fewer answers than items.");
    for (const [position, result] of answers.entries()) batch[position]?.resolve(result);
  };
}
