const HOUR_MS = 60 * 60 * 1000;

/** Limits the hourly use of each tenant, in one process. */
export class HourlyBudget {
  readonly #perTenant: number;
  #used = new Map<string, number>();
  #endsAt = 0;

  constructor(perTenant: number) {
    this.#perTenant = perTenant;
  }

  /** Uses an amount; false when less is left. */
  take(tenant: string, amount: number): boolean {
    const now = Date.now();
    if (now >= this.#endsAt) {
      this.#used = new Map();
      this.#endsAt = now + HOUR_MS;
    }
    const used = (this.#used.get(tenant) ?? 0) + amount;
    if (used > this.#perTenant) return false;
    this.#used.set(tenant, used);
    return true;
  }
}
