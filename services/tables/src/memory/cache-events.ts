/** The way to an answer: from columns as they were, after a catch-up, or in a transaction. */
export type Try = "as_is" | "caught_up" | "frozen";

/** Whose memory limit a question would have exceeded. */
export type MemoryLimit = "table" | "company" | "all";

/**
 * Events of the columns. A question finds a column in memory (`hit`) or has it read (`load`). Columns are `evicted`
 * for others, or `lost` when they are useless. A question finds its table in memory or not. A try gives the answer
 * or nothing (`none`). A scan reads columns; it is `abandoned` when nobody waits for it any more. A catch-up reads
 * changes. A question is `refused` for want of memory, or because others about its table have ended threads. A
 * question ends when its caller has `left`, and its waiting statement is `withdrawn`. Evicted columns may be
 * `spilled` to disk and `restored` from there. They are `skipped` for want of room, and the disk may have `failed`.
 * Columns on disk may be `evicted` from there for others.
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

/** Counts an event, once or several times. */
export type OnCacheEvent = (event: CacheEvent, count?: number) => void;

/** The content of the memory. */
export interface CacheUsage {
  /** The number of tables with something in memory. */
  readonly tables: number;
  readonly bytes: number;
}

/** Bytes by company. */
export type CompanyBytes = ReadonlyMap<string, number>;

/** The use of the memory for columns. */
export interface MemoryUse {
  readonly companies: CompanyBytes;
  /** The bytes that questions use, or that are being read for them. */
  readonly bytesInUse: number;
  /** The bytes on disk. */
  readonly spilledBytes: number;
}
