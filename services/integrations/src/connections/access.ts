import { AppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import type { ConnectionKey } from "../domain/connection-key.ts";
import { openConnection } from "./open-connection.ts";
import type { OpenConnection } from "./open-connection.ts";
import { ensureFresh } from "./renew-access.ts";
import type { RenewContext } from "./renew-access.ts";

/** The Postgres channel for changes of connections; the payload is the id. */
export const CONNECTIONS_CHANNEL = "integrations_connections";

/** A cache of decrypted connections, since steps of runs need one many times a second. */
export interface ConnectionAccessCache {
  /**
   * The connection with credentials that are valid for a while. A change takes effect within 5 s, even
   * without its notification. Concurrent callers share one lookup.
   *
   * @throws AppError NOT_FOUND; UPSTREAM_ERROR when credentials have ended and can't be renewed now
   */
  getAccess(companyId: string, connectionId: string): Promise<OpenConnection>;
  /** Invalidates the entry of a connection; without an id, all entries. */
  forget(connectionId?: string): void;
}

/** Less than the 5 s within which a change takes effect, because a lookup itself takes time. */
const KNOWN_FOR_MS = 4_000;
const ENTRIES_MAX = 10_000;
/** A change during a lookup repeats it. Three changes in a row are a fault. */
const LOOKUPS_MAX = 3;

/** Whether the result of a lookup is still current at its end. */
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
    // The age of an answer counts from the question, because a change may overtake the answer.
    const start = performance.now();
    const lookUp = async (): Promise<OpenConnection> => {
      let connection = await openConnection(context, key);
      for (let looked = 0; looked < LOOKUPS_MAX; looked += 1) {
        const fresh = await ensureFresh(context, connection);
        if (lookups === underWay && performance.now() - start < KNOWN_FOR_MS) {
          known.set(name, fresh, { start });
          return fresh;
        }
        // An entry was invalidated meanwhile, perhaps this one, or the login was slow.
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
