/** The limits of what may be taken at the same time. */
export interface TurnLimits {
  perTenant: number;
  /** For all tenants together; no limit by default. */
  total?: number;
}

interface Waiter {
  amount: number;
  start: () => void;
}

/**
 * Lets so much run at the same time and the rest wait: first come, first served within a tenant, in
 * turns between tenants (D57). However much one tenant has waiting, another's next item is as near.
 * Each takes one place, unless it says how many.
 */
export class Turns {
  readonly #perTenant: number;
  readonly #total: number;
  readonly #active = new Map<string, number>();
  /** The tenant that was served last is at the end. A set keeps order and removes any member fast. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #activeTotal = 0;

  constructor({ perTenant, total = Infinity }: TurnLimits) {
    this.#perTenant = perTenant;
    this.#total = total;
  }

  /**
   * Waits for a place, or for `amount` of them. A request for more than a tenant may have gets that
   * much.
   *
   * @returns releases it; to be called once
   * @throws the signal's reason when it was aborted first
   */
  take(tenant: string, signal: AbortSignal, amount = 1): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const taken = this.takeNow(tenant, amount);
    if (taken !== null) return Promise.resolve(taken);
    const wanted = Math.min(amount, this.#perTenant, this.#total);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#leave(tenant, waiter);
        reject(signal.reason);
        // The aborted request may have held up smaller ones.
        this.#startWaiting();
      };
      const waiter: Waiter = {
        amount: wanted,
        start: () => {
          signal.removeEventListener("abort", onAbort);
          resolve(this.#occupy(tenant, wanted));
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      const queue = this.#waiting.get(tenant) ?? new Set();
      this.#waiting.set(tenant, queue.add(waiter));
      this.#startWaiting();
    });
  }

  /**
   * Takes a place, or `amount` of them, if that is free and nobody who waits comes first.
   *
   * @returns releases it, to be called once; null when there is none now
   */
  takeNow(tenant: string, amount = 1): (() => void) | null {
    const wanted = Math.min(amount, this.#perTenant, this.#total);
    const isFree = this.#fits(tenant, wanted) && !this.#isAwaited(tenant);
    return isFree ? this.#occupy(tenant, wanted) : null;
  }

  /** Whether a tenant itself holds so much that no more is left for it. */
  isAtLimit(tenant: string, amount = 1): boolean {
    return !this.#fitsTenant(tenant, Math.min(amount, this.#perTenant));
  }

  #fits(tenant: string, amount: number): boolean {
    return this.#fitsAll(amount) && this.#fitsTenant(tenant, amount);
  }

  /** Tenants at their own limit, who can use no place that becomes free, hold up nobody else. */
  #isAwaited(tenant: string): boolean {
    if (this.#waiting.size === 0) return false;
    if (this.#waiting.has(tenant)) return true;
    for (const [other, queue] of this.#waiting) {
      const [next] = queue;
      if (next !== undefined && this.#fitsTenant(other, next.amount)) return true;
    }
    return false;
  }

  #fitsAll(amount: number): boolean {
    return this.#activeTotal + amount <= this.#total;
  }

  #fitsTenant(tenant: string, amount: number): boolean {
    return (this.#active.get(tenant) ?? 0) + amount <= this.#perTenant;
  }

  #occupy(tenant: string, amount: number): () => void {
    this.#activeTotal += amount;
    this.#active.set(tenant, (this.#active.get(tenant) ?? 0) + amount);
    return () => {
      this.#activeTotal -= amount;
      const left = (this.#active.get(tenant) ?? amount) - amount;
      if (left === 0) this.#active.delete(tenant);
      else this.#active.set(tenant, left);
      this.#startWaiting();
    };
  }

  #startWaiting(): void {
    while (this.#startNext());
  }

  /** Smaller requests do not overtake the one whose turn it is, else that one might wait for ever. */
  #startNext(): boolean {
    for (const [tenant, queue] of this.#waiting) {
      const [next] = queue;
      if (next === undefined || !this.#fitsTenant(tenant, next.amount)) continue;
      if (!this.#fitsAll(next.amount)) return false;
      this.#waiting.delete(tenant);
      queue.delete(next);
      if (queue.size > 0) this.#waiting.set(tenant, queue);
      next.start();
      return true;
    }
    return false;
  }

  #leave(tenant: string, waiter: Waiter): void {
    const queue = this.#waiting.get(tenant);
    queue?.delete(waiter);
    if (queue?.size === 0) this.#waiting.delete(tenant);
  }
}
