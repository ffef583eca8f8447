import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { LeaseTable } from "./lease-table.ts";
import { extendLeases } from "./postgres-queries.ts";

/** Keeps the leases of one worker alive, and ends those that turn out to be lost. */
export class Heartbeat {
  readonly #database: Database;
  readonly #leases: LeaseTable;
  readonly #leaseMs: number;
  readonly #timer: NodeJS.Timeout;
  #sending: Promise<void> | null = null;
  #sentAt = performance.now();

  constructor(options: {
    database: Database;
    leases: LeaseTable;
    leaseMs: number;
    logger: Logger;
  }) {
    this.#database = options.database;
    this.#leases = options.leases;
    this.#leaseMs = options.leaseMs;
    this.#timer = setInterval(() => {
      this.send().catch((error: unknown) => {
        options.logger.warn({ err: error }, "could not extend leases");
      });
    }, options.leaseMs / 3);
  }

  /** Whether the leases may have run out: after a stall or an outage they look abandoned. */
  get isLate(): boolean {
    return performance.now() - this.#sentAt > (this.#leaseMs * 2) / 3;
  }

  /** Extends all leases now. */
  send(): Promise<void> {
    this.#sending ??= this.#extend().finally(() => (this.#sending = null));
    return this.#sending;
  }

  /** Resolves when no heartbeat is under way any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending?.catch(() => {});
  }

  async #extend(): Promise<void> {
    const begunAt = performance.now();
    const leases = this.#leases.unsettled;
    const alive = new Set(
      leases.length === 0 ? [] : await extendLeases(this.#database, leases, this.#leaseMs),
    );
    this.#sentAt = begunAt;
    for (const lease of leases) {
      if (!alive.has(lease.runId) && !lease.settledForGood) lease.controller.abort();
    }
  }
}
