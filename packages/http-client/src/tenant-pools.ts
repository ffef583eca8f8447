import type { ConnectionPool } from "./connection-pool.ts";

/** The connection pools of tenants. */
export interface TenantPools {
  /** Keeps a tenant's pool open while the work runs. */
  use<Result>(tenant: string, work: (pool: ConnectionPool) => Promise<Result>): Promise<Result>;
  /** Waits for running work and closes all connections. New work is not refused here. */
  close(): Promise<void>;
}

interface Entry {
  pool: ConnectionPool;
  users: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/** After this time the pool's idle connections are closed. */
const IDLE_MS = 60_000;

/**
 * Keeps one pool for each tenant. So tenants do not wait for each other, and a connection carries requests of
 * one tenant only. A pool that was not used for a minute is closed.
 */
export function createTenantPools(create: (tenant: string) => ConnectionPool): TenantPools {
  const entries = new Map<string, Entry>();
  const underWay = new Set<Promise<unknown>>();

  function borrow(tenant: string): Entry {
    const entry = entries.get(tenant) ?? { pool: create(tenant), users: 0, idleTimer: undefined };
    entries.set(tenant, entry);
    clearTimeout(entry.idleTimer);
    entry.users += 1;
    return entry;
  }

  function giveBack(tenant: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    entry.idleTimer = setTimeout(() => {
      entries.delete(tenant);
      void entry.pool.close();
    }, IDLE_MS).unref();
  }

  return {
    async use(tenant, work) {
      const entry = borrow(tenant);
      const working = work(entry.pool);
      underWay.add(working);
      try {
        return await working;
      } finally {
        underWay.delete(working);
        giveBack(tenant, entry);
      }
    },
    async close() {
      await Promise.allSettled(underWay);
      const pools = [...entries.values()];
      entries.clear();
      for (const { idleTimer } of pools) clearTimeout(idleTimer);
      await Promise.all(pools.map(({ pool }) => pool.close()));
    },
  };
}
