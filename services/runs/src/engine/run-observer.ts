import type { JournalEntry } from "../journal/journal-entry.ts";

/** Is told of runs whose end this process has written. */
export interface RunObserver {
  runEnded(entry: Pick<JournalEntry, "run" | "ended">): void;
}
