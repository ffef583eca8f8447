/** The time limit of a wait for a slot. */
export interface WaitLimit {
  /** The limit in milliseconds. */
  timeoutMs: number;
  /** Makes the error for a wait that took longer. */
  timeoutError: () => Error;
}

interface Waiter {
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * A limited number of slots, acquired in the order of arrival. All holders are equal; `Turns` adds
 * turns between tenants.
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
   * Waits for a slot, without a time limit by default.
   *
   * @returns releases the slot; call it once
   * @throws the limit's error after too long a wait; the error of `rejectWaiting`
   */
  async acquire(limit?: WaitLimit): Promise<() => void> {
    if (this.#held < this.#slots) this.#held += 1;
    else await this.#wait(limit);
    return this.#release;
  }

  /** The number of callers that wait for a slot. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Rejects all callers that wait for a slot. */
  rejectWaiting(error: unknown): void {
    for (const { reject } of this.#line) reject(error);
    this.#line.clear();
  }

  /** Resolves when no slot is held. */
  async whenIdle(): Promise<void> {
    if (this.#held > 0) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  /** One function for all holders, so that acquiring a free slot allocates nothing else. */
  readonly #release = (): void => {
    const [next] = this.#line;
    if (next !== undefined) {
      // The slot goes to the next caller without being free in between.
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
      // A caller that was just served or rejected has left the line.
      if (this.#line.delete(waiter)) reject(limit.timeoutError());
    }, limit.timeoutMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
