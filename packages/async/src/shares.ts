/** The limits of places. */
export interface ShareLimits {
  /** The limit of all tenants together. */
  total: number;
  /** The limit of one tenant, however many places are free. */
  perTenant: number;
}

/**
 * Limits places that tenants hold for long, such as open connections. No tenant may hold more places
 * than are left free. So one tenant alone gets half of them, the next one half of the rest, and there
 * is always a place for a newcomer.
 */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();
  #heldInAll = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /**
   * Acquires a place, or `amount` of them.
   *
   * @returns releases them, and may be called repeatedly; null when the tenant has used its share
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
