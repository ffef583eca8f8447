import type { JournalEntry } from "../journal/journal-entry.ts";

/** Notified of each run whose end this process has written. */
export interface RunObserver {
  runEnded(entry: Pick<JournalEntry, "run" | "ended">): void;
}
