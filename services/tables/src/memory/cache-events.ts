/** How an answer was come by: from columns as they were, after catching up, or in a transaction. */
export type Try = "as_is" | "caught_up" | "frozen";

/** Whose memory a question would have exceeded. */
export type MemoryLimit = "table" | "company" | "all";

/**
 * What happens to columns in memory: a question found one (`hit`) or had it read (`load`), one was given
 * back for others (`evicted`), a table's are of no use any more (`lost`); a question is about a table that
 * is in memory or not; a try gave the answer, or came to nothing (`none`). A scan reads columns, one that
 * nobody waits for any more is `abandoned`; a catch-up reads what has changed. A question is `refused`
 * for want of memory, or because others about its table have ended threads; it ends when its caller has gone
 * (`left`), and a statement is `withdrawn` then before it is made. What is given back may be `spilled`, and
 * `restored` from disk; it is `skipped` when there is no room on its way or on disk, the disk may have `failed`, and
 * a company's own may be `evicted` from there for others.
 */
export type CacheEvent =
  | "hit"
  | "load"
  | "evicted"
  | "lost"
  | "scan"
  | "scan abandoned"
  | "catch-up"
  | "left"
  | "withdrawn"
  | "refused"
  | `refused ${MemoryLimit}`
  | "spilled"
  | "restored"
  | "spill skipped"
  | "spill evicted"
  | "spill failed"
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
  /** On disk. */
  readonly spilledBytes: number;
}

/** Bytes by company. */
export type CompanyBytes = ReadonlyMap<string, number>;

/** What the memory for columns is taken up by. */
export interface MemoryUse {
  readonly companies: CompanyBytes;
  /** Of this so much is in use by questions, or being read for them. */
  readonly bytesInUse: number;
}
