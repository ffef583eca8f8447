import { PlainLine, TurnLine } from "./batch-lines.ts";
import type { BatchLimits, BatchLine } from "./batch-lines.ts";

/** An item of a batch, and whoever waits for what becomes of it. */
export interface Asked<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | PromiseLike<Result>) => void;
  readonly reject: (error: unknown) => void;
}

/** How items are gathered and handled. */
export interface BatcherOptions<Item, Result> extends BatchLimits<Item> {
  /** The most batches under way at a time; meanwhile further items gather. No limit by default. */
  batchesMax?: number | undefined;
  /** With it, batches are filled in turns between tenants (D57). */
  tenantOf?: ((item: Item) => string) | undefined;
  /** Resolves or rejects each item of a batch. When it throws, the error is of all that are left. */
  handle: (batch: readonly Asked<Item, Result>[]) => Promise<void>;
  /**
   * Whether, after such an error, the items of the batch are handled one by one, so that the one which caused it
   * fails alone. Never by default. `handle` has answered no item before such an error, else that one is handled
   * twice.
   */
  isOfOneItem?: ((error: unknown) => boolean) | undefined;
  /** Called when nothing waits and nothing is under way any more. */
  onIdle?: (() => void) | undefined;
}

/**
 * Gathers items that are asked for one by one, and handles them together. A batch begins in the next turn of the
 * event loop, so items that arrive together share it, and an item that comes alone waits for nothing. While as
 * many batches as allowed are under way, items wait for the next one.
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

  /** @returns what becomes of the item */
  ask(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#line.add({ item, resolve, reject });
      this.resume();
    });
  }

  /** Begins a batch soon, if one may; to be called when items are no longer held (`isHeld`). */
  resume(): void {
    if (this.#isDue || this.#underWay >= this.#batchesMax || this.#line.size === 0) return;
    this.#isDue = true;
    setImmediate(this.#beginDue);
  }

  /** Resolves when nothing waits and nothing is under way. */
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
      // Whoever has an answer does not notice.
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

/** Makes `handle` of a function that answers all items of a batch at once, in their order. */
export function answerTogether<Item, Result>(
  answer: (items: readonly Item[]) => Promise<readonly (Result | PromiseLike<Result>)[]>,
): BatcherOptions<Item, Result>["handle"] {
  return async (batch) => {
    const answers = await answer(batch.map(({ item }) => item));
    // Whoever gets no answer would wait for ever.
    if (answers.length < batch.length) throw new Error("A batch has fewer answers than items.");
    for (const [position, result] of answers.entries()) batch[position]?.resolve(result);
  };
}
