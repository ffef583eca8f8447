import type { ConnectionPool } from "./connection-pool.ts";

/** The connection pools of tenants. */
export interface TenantPools {
  /** Lends a tenant's pool for as long as the work takes. */
  use<Result>(tenant: string, work: (pool: ConnectionPool) => Promise<Result>): Promise<Result>;
  /** Refuses nothing by itself; waits for what is under way and closes all connections. */
  close(): Promise<void>;
}

interface Entry {
  pool: ConnectionPool;
  users: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/** By then the pool's connections have been closed for having nothing to do. */
const IDLE_MS = 60_000;

/**
 * Keeps one pool a tenant: what one does to its connections, or waits for, is nothing to another, and a
 * connection carries the requests of one tenant only. A pool that nobody has used for a minute goes.
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
