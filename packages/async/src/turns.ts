/** The limits of concurrent work. */
export interface TurnLimits {
  perTenant: number;
  /** The limit of all tenants together; unlimited by default. */
  total?: number;
}

interface Waiter {
  amount: number;
  start: () => void;
}

/**
 * Limits concurrent work; the rest waits in the order of arrival within a tenant, and in turns between
 * tenants (D57). A tenant's next item waits no longer, however much other tenants have waiting. An item
 * takes one place unless it names an amount.
 */
export class Turns {
  readonly #perTenant: number;
  readonly #total: number;
  readonly #active = new Map<string, number>();
  /**
   * The waiting items of each tenant; the tenant that was served last is at the end. A set keeps the
   * order and removes any member fast.
   */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #activeTotal = 0;

  constructor({ perTenant, total = Infinity }: TurnLimits) {
    this.#perTenant = perTenant;
    this.#total = total;
  }

  /**
   * Waits for a place, or for `amount` of them. A request above the tenant's limit gets that limit.
   *
   * @returns releases the places; call it once
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
        // The aborted request may have blocked smaller ones.
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
   * Acquires a place, or `amount` of them, if they are free and nobody waits for them.
   *
   * @returns releases them, call it once; null without free places
   */
  takeNow(tenant: string, amount = 1): (() => void) | null {
    const wanted = Math.min(amount, this.#perTenant, this.#total);
    const isFree = this.#fits(tenant, wanted) && !this.#isAwaited(tenant);
    return isFree ? this.#occupy(tenant, wanted) : null;
  }

  /** Whether the tenant's own places leave no more for it. */
  isAtLimit(tenant: string, amount = 1): boolean {
    return !this.#fitsTenant(tenant, Math.min(amount, this.#perTenant));
  }

  #fits(tenant: string, amount: number): boolean {
    return this.#fitsAll(amount) && this.#fitsTenant(tenant, amount);
  }

  /**
   * Whether others wait for free places. Tenants at their own limit do not count, because they cannot
   * use one.
   */
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

  /** Smaller requests do not overtake the next one, which might otherwise wait for ever. */
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
