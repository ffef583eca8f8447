import { AppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import type { ConnectionKey } from "../domain/connection-key.ts";
import { openConnection } from "./open-connection.ts";
import type { OpenConnection } from "./open-connection.ts";
import { ensureFresh } from "./renew-access.ts";
import type { RenewContext } from "./renew-access.ts";

/** The Postgres channel for changes of connections; the payload is the id. */
export const CONNECTIONS_CHANNEL = "integrations_connections";

/** A cache of opened connections: steps of runs need one many times per second. */
export interface ConnectionAccessCache {
  /**
   * The connection with credentials that are valid for a while. Changes are seen within 5 s, even when no
   * notification of them arrives. Simultaneous callers share one look-up.
   *
   * @throws AppError NOT_FOUND, UPSTREAM_ERROR when credentials have ended and can't be renewed now
   */
  getAccess(companyId: string, connectionId: string): Promise<OpenConnection>;
  /** Drops the cached entry of a connection; without an id, all. */
  forget(connectionId?: string): void;
}

/** Less than the 5 s within which a change counts: a look-up itself takes time. */
const KNOWN_FOR_MS = 4_000;
const ENTRIES_MAX = 10_000;
/** Changes during a look-up repeat it. Three in a row are a fault. */
const LOOKS_MAX = 3;

/** Whether the result of a look-up still holds at its end. */
function isSame(current: OpenConnection, found: OpenConnection): boolean {
  return current.version === found.version && current.status === found.status;
}

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
    const lookUp = async (): Promise<OpenConnection> => {
      let connection = await openConnection(context, key);
      for (let looked = 0; looked < LOOKS_MAX; looked += 1) {
        const fresh = await ensureFresh(context, connection);
        if (lookups === underWay && performance.now() - start < KNOWN_FOR_MS) {
          known.set(name, fresh, { start });
          return fresh;
        }
        // An entry was invalidated meanwhile, perhaps this one, or a login took its time.
        connection = await openConnection(context, key);
        if (isSame(connection, fresh)) return fresh;
      }
      throw new AppError("UPSTREAM_ERROR", "The connection is being changed; try again.");
    };
    const lookup = lookUp().finally(() => lookups.delete(name));
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
