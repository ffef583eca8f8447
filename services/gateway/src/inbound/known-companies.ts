import { databaseErrorToAppError, isUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import { LRUCache } from "lru-cache";
import { findCompanyIds } from "../store/companies.ts";

/** Says which companies there are, however many ids strangers make up. */
export interface KnownCompanies {
  /**
   * The company's id in lower case when there is one, else null. Rejects with UNAVAILABLE when it is not
   * remembered and the database is away.
   */
  find(id: string): Promise<string | null> | string | null;
}

const REMEMBERED_MAX = 50_000;
/** No company ends yet; were one to, it is known for so long. */
const KNOWN_FOR_MS = 60_000;
/** Nobody knows the id of a company before it is there, so this keeps nobody waiting. */
const UNKNOWN_FOR_MS = 1_000;
const IDS_MAX = 1_000;

/**
 * Remembers what it has found. The rest is asked for together, in one query at a time: a flood of unknown ids
 * costs no more than that.
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

/** Ids that the next query asks for. */
interface Batch {
  ids: Set<string>;
  found: Promise<ReadonlySet<string>>;
}
