import { databaseErrorToAppError, isUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import { LRUCache } from "lru-cache";
import { findCompanyIds } from "../store/companies.ts";

/** Decides which company ids exist, however many ids strangers make up. */
export interface KnownCompanies {
  /**
   * The company's id in lower case; null when there is no such company. Rejects with UNAVAILABLE
   * when the id is not cached and the database is away.
   */
  find(id: string): Promise<string | null> | string | null;
}

const REMEMBERED_MAX = 50_000;
/** Companies are not deleted yet; a deleted one would be known for this long. */
const KNOWN_FOR_MS = 60_000;
/** A company's id is unknown to others before it exists, so caching its absence delays nobody. */
const UNKNOWN_FOR_MS = 1_000;
const IDS_MAX = 1_000;

/**
 * Caches what it has found. Other ids are looked up together, one query at a time, so a flood of
 * unknown ids costs no more than that.
 */
export function createKnownCompanies(database: Database): KnownCompanies {
  const known = new LRUCache<string, true>({ max: REMEMBERED_MAX, ttl: KNOWN_FOR_MS });
  const unknown = new LRUCache<string, true>({ max: REMEMBERED_MAX, ttl: UNKNOWN_FOR_MS });
  let gathering: Batch | undefined;
  let underWay: Promise<unknown> = Promise.resolve();

  const lookUp = async (ids: ReadonlySet<string>): Promise<ReadonlySet<string>> => {
    try {
      const found = await findCompanyIds(database, [...ids]);
      for (const id of ids) (found.has(id) ? known : unknown).set(id, true);
      return found;
    } catch (error) {
      throw databaseErrorToAppError(error);
    }
  };

  const gather = (): Batch => {
    const ids = new Set<string>();
    const found = underWay.then(() => {
      if (gathering?.ids === ids) gathering = undefined;
      return lookUp(ids);
    });
    underWay = found.catch(() => {});
    return { ids, found };
  };

  return {
    find(id) {
      const key = id.toLowerCase();
      if (known.has(key)) return key;
      if (!isUuid(key) || unknown.has(key)) return null;
      if (gathering === undefined || gathering.ids.size >= IDS_MAX) gathering = gather();
      gathering.ids.add(key);
      return gathering.found.then((found) => (found.has(key) ? key : null));
    },
  };
}

/** The ids of the next query. */
interface Batch {
  ids: Set<string>;
  found: Promise<ReadonlySet<string>>;
}
