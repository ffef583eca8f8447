import type { Database } from "@workflow/db";
import { LRUCache } from "lru-cache";
import { listFullBacklogs } from "../store/outbound-events.ts";

const CHECKED_MS = 10_000;
const COMPANIES_MAX = 10_000;
/** The share of the limit after whose new deliveries the backlog is counted again. */
const RECHECKED_SHARE = 0.1;

/**
 * Remembers the companies with too many waiting deliveries, for which no more are made. The count is
 * some seconds old.
 */
export class FullBacklogs {
  readonly #database: Database;
  readonly #pendingMax: number;
  /** Whether a company's backlog is full. */
  readonly #checked = new LRUCache<string, boolean>({ max: COMPANIES_MAX, ttl: CHECKED_MS });

  /** Deliveries made since the count. */
  readonly #made = new LRUCache<string, number>({ max: COMPANIES_MAX, ttl: CHECKED_MS });

  constructor(database: Database, pendingMax: number) {
    this.#database = database;
    this.#pendingMax = pendingMax;
  }

  /** Companies whose backlog is known to be full. */
  known(): string[] {
    return [...this.#checked.entries()].flatMap(([id, isFull]) => (isFull ? [id] : []));
  }

  /** Counts new deliveries of a company. After many of them the old count is dropped. */
  add(companyId: string, count: number): void {
    const made = (this.#made.get(companyId) ?? 0) + count;
    this.#made.set(companyId, made);
    if (made < this.#pendingMax * RECHECKED_SHARE) return;
    this.#checked.delete(companyId);
    this.#made.delete(companyId);
  }

  /** The companies among these whose backlog is full. */
  async check(companyIds: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = companyIds.filter((id) => this.#checked.get(id) === undefined);
    if (unknown.length > 0) {
      const full = new Set(await listFullBacklogs(this.#database, unknown, this.#pendingMax));
      for (const id of unknown) this.#checked.set(id, full.has(id));
    }
    return new Set(companyIds.filter((id) => this.#checked.get(id) === true));
  }
}
