import type { Database } from "@workflow/db";
import { LRUCache } from "lru-cache";
import { listFullBacklogs } from "../store/outbound-events.ts";

const CHECKED_MS = 10_000;
const COMPANIES_MAX = 10_000;

/** Which companies have so many deliveries waiting that no more are made. What is known is some seconds old. */
export class FullBacklogs {
  readonly #database: Database;
  readonly #pendingMax: number;
  /** Whether a company's is full. */
  readonly #checked = new LRUCache<string, boolean>({ max: COMPANIES_MAX, ttl: CHECKED_MS });

  constructor(database: Database, pendingMax: number) {
    this.#database = database;
    this.#pendingMax = pendingMax;
  }

  /** Companies that are known to have a full one. */
  known(): string[] {
    return [...this.#checked.entries()].flatMap(([id, isFull]) => (isFull ? [id] : []));
  }

  /** Which of the companies have a full one. */
  async check(companyIds: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = companyIds.filter((id) => this.#checked.get(id) === undefined);
    if (unknown.length > 0) {
      const full = new Set(await listFullBacklogs(this.#database, unknown, this.#pendingMax));
      for (const id of unknown) this.#checked.set(id, full.has(id));
    }
    return new Set(companyIds.filter((id) => this.#checked.get(id) === true));
  }
}
