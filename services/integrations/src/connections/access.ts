import { LRUCache } from "lru-cache";
import type { ConnectionKey } from "./connection-key.ts";
import { openConnection } from "./open-connection.ts";
import type { OpenConnection } from "./open-connection.ts";
import { ensureFresh } from "./renew-access.ts";
import type { RenewContext } from "./renew-access.ts";

/** The Postgres channel on which changes of connections are told; the payload is the id. */
export const CONNECTIONS_CHANNEL = "integrations_connections";

/** What opens accounts, as the steps of runs need it: many times a second for one connection. */
export interface ConnectionAccessCache {
  /**
   * The connection with credentials that hold for a while. Changes are seen within 5 s, also when no
   * notification of them arrives; who asks at the same time shares one look-up.
   *
   * @throws AppError NOT_FOUND, UPSTREAM_ERROR when credentials have ended and can't be renewed now
   */
  getAccess(companyId: string, connectionId: string): Promise<OpenConnection>;
  /** Drops what is remembered of a connection; without an id, of all. */
  forget(connectionId?: string): void;
}

/** Below the 5 s within which a change counts: a look-up itself takes time. */
const KNOWN_FOR_MS = 4_000;
const ENTRIES_MAX = 10_000;

/** A cache in front of the stored connections. */
export function createConnectionAccess(context: RenewContext): ConnectionAccessCache {
  const known = new LRUCache<string, OpenConnection>({ max: ENTRIES_MAX, ttl: KNOWN_FOR_MS });
  let underWay = new Map<string, Promise<OpenConnection>>();

  const lookUpOnce = (key: ConnectionKey, name: string): Promise<OpenConnection> => {
    const lookups = underWay;
    const shared = lookups.get(name);
    if (shared !== undefined) return shared;
    // The age of an answer counts from the question: a change may overtake it.
    const start = performance.now();
    const lookup = openConnection(context, key)
      .then((connection) => ensureFresh(context, connection))
      .then((connection) => {
        // Something was forgotten meanwhile, perhaps this: then the answer is for now only.
        if (lookups === underWay) known.set(name, connection, { start });
        return connection;
      })
      .finally(() => lookups.delete(name));
    lookups.set(name, lookup);
    return lookup;
  };

  return {
    async getAccess(companyId, connectionId) {
      const name = `${connectionId} ${companyId}`;
      return known.get(name) ?? lookUpOnce({ companyId, connectionId }, name);
    },
    forget(connectionId) {
      underWay = new Map();
      if (connectionId === undefined) known.clear();
      else for (const name of known.keys()) if (name.startsWith(connectionId)) known.delete(name);
    },
  };
}
