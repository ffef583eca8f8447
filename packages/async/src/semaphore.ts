/** How long one holder-to-be waits in line. */
export interface WaitLimit {
  /** Milliseconds. */
  timeoutMs: number;
  /** Makes the error of a wait that took longer. */
  timeoutError: () => Error;
}

interface Waiter {
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * A limited number of slots for holders, who get them in the order in which they came. All of them are alike;
 * between tenants there are `Turns`.
 */
export class Semaphore {
  readonly #slots: number;
  #held = 0;
  readonly #line = new Set<Waiter>();
  #idleWaiters: (() => void)[] = [];

  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * Waits for a slot, without end by default.
   *
   * @returns releases the slot; to be called once
   * @throws the limit's error when the wait took too long, or what `rejectWaiting` was given
   */
  async acquire(limit?: WaitLimit): Promise<() => void> {
    if (this.#held < this.#slots) this.#held += 1;
    else await this.#wait(limit);
    return this.#release;
  }

  /** How many wait for a slot. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Rejects everybody who waits for a slot. */
  rejectWaiting(error: unknown): void {
    for (const { reject } of this.#line) reject(error);
    this.#line.clear();
  }

  /** Resolves when no slot is held. */
  async whenIdle(): Promise<void> {
    if (this.#held > 0) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  /** One function for all holders: acquiring a free slot allocates nothing else. */
  readonly #release = (): void => {
    const [next] = this.#line;
    if (next !== undefined) {
      // The slot goes to the next in line without being free in between.
      this.#line.delete(next);
      next.resolve();
      return;
    }
    this.#held -= 1;
    if (this.#held > 0) return;
    for (const resolve of this.#idleWaiters) resolve();
    this.#idleWaiters = [];
  };

  async #wait(limit: WaitLimit | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { resolve, reject };
    this.#line.add(waiter);
    if (limit === undefined) return promise;
    const timer = setTimeout(() => {
      // A waiter that was served or sent away in this moment has left the line.
      if (this.#line.delete(waiter)) reject(limit.timeoutError());
    }, limit.timeoutMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
