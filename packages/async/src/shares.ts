/** The number of places. */
export interface ShareLimits {
  /** Places of all tenants together. */
  total: number;
  /** The most that one tenant may hold, however many are free. */
  perTenant: number;
}

/**
 * Places that tenants hold for long, such as open connections. No tenant may hold more than are left
 * free. One tenant alone gets half of them, the next half of the rest. So there is one for every
 * newcomer.
 */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();
  #heldInAll = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place, or `amount` of them.
   *
   * @returns releases them, however often it is called; null when the tenant has its share
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
