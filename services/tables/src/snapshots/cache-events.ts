/** How an answer was come by: from columns as they were, after catching up, or in a transaction. */
export type Try = "as_is" | "caught_up" | "frozen";

/**
 * What happens to columns in memory: a question found one (`hit`) or had it read (`load`), one was given
 * back for others (`evicted`), a table's are of no use any more (`lost`); a question is about a table that
 * is in memory or not; a try gave the answer, or came to nothing (`none`).
 */
export type CacheEvent =
  | "hit"
  | "load"
  | "evicted"
  | "lost"
  | "table hit"
  | "table miss"
  | `${Try} answer`
  | `${Try} none`;

/** Hears that something has happened, so many times (once by default). */
export type OnCacheEvent = (event: CacheEvent, count?: number) => void;

/** What is in memory. */
export interface CacheUsage {
  /** Tables of which something is there. */
  readonly tables: number;
  readonly bytes: number;
}

/** Bytes by company. */
export type CompanyBytes = ReadonlyMap<string, number>;
