/** How many places there are. */
export interface ShareLimits {
  /** Of all tenants together. */
  total: number;
  /** What one tenant may hold at most, however many are free. */
  perTenant: number;
}

/**
 * Places that tenants hold for long, such as open connections. Nobody may hold more than are left free:
 * one tenant alone gets half of them, the next half of the rest, so that there is one for whoever comes.
 */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();
  #heldInAll = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place, or as many as are said.
   *
   * @returns gives them back, however often it is called; null when the tenant has its share
   */
  take(tenant: string, amount = 1): (() => void) | null {
    const { total, perTenant } = this.#limits;
    const held = this.#held.get(tenant) ?? 0;
    if (held + amount > Math.min(perTenant, total - this.#heldInAll)) return null;
    this.#change(tenant, amount);
    let isHeld = true;
    return () => {
      if (isHeld) this.#change(tenant, -amount);
      isHeld = false;
    };
  }

  #change(tenant: string, by: number): void {
    this.#heldInAll += by;
    const held = (this.#held.get(tenant) ?? 0) + by;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
  }
}
