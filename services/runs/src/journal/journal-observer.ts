/** Notified of what a journal writes. */
export interface JournalObserver {
  /** A batch was written, in one transaction or, after a failure, in several. */
  batchWritten(batch: { entries: number; bytes: number; ms: number }): void;
}
