import { AppError } from "@workflow/errors";
import { EntryWriter } from "./entry-writer.ts";
import type { EntryWriterOptions } from "./entry-writer.ts";
import type { JournalEntry } from "./journal-entry.ts";
import type { JournalObserver } from "./journal-observer.ts";

/** Writes checkpoints of runs. */
export interface JournalWriter {
  /**
   * Writes one checkpoint. Entries of one run are written in the order of the calls.
   *
   * @returns whether the lease still held; if not, nothing was written and the execution must stop
   */
  write: (entry: JournalEntry) => Promise<boolean>;
}

/** The options of a journal writer. */
export interface JournalWriterOptions extends EntryWriterOptions {
  /** Called with the entries that were committed; must not throw. */
  onCommitted: (entries: readonly JournalEntry[]) => void;
  /** Notified of what was written. */
  journalObserver?: JournalObserver | undefined;
}

interface Waiting {
  entry: JournalEntry;
  resolve: (written: boolean) => void;
  reject: (error: unknown) => void;
}

const BATCH_MAX = 250;
/** Characters of documents in one batch. A statement carries them all in one parameter. */
const BATCH_CHARS_MAX = 16 * 1024 * 1024;
/** Entries of failed batches that are written at the same time, each in a transaction of its own. */
const SUSPECTS_AT_ONCE = 2;
/** How often such an entry may fail before its run fails. */
const ENTRY_TRIES_MAX = 3;

/**
 * Writes checkpoints in batches. One transaction at a time takes all entries that arrived since the last
 * one. At a low rate a checkpoint is written at once; at a high one hundreds share one commit. The
 * entries of a batch that fails are written one by one beside it. So an entry that cannot be written, or
 * not in time, holds up no others.
 */
export function createJournalWriter(options: JournalWriterOptions): JournalWriter {
  const { logger, onCommitted } = options;
  const writer = new EntryWriter(options);
  let waiting: Waiting[] = [];
  let writing = false;
  /** Entries of a failed batch, each to be written by itself. */
  let suspects: Waiting[] = [];
  /** The runs of those entries. Nothing later of these runs may be written before. */
  const suspectRuns = new Set<string>();
  let suspectsWriting = 0;

  const drain = async (): Promise<void> => {
    for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) await writeBatch(batch);
    writing = false;
  };

  const drainSoon = (): void => {
    if (writing) return;
    writing = true;
    // The batch begins in the next turn of the event loop, so that runs which reach a checkpoint together
    // share a commit.
    setImmediate(() => void drain());
  };

  const writeSuspects = (): void => {
    while (suspectsWriting < SUSPECTS_AT_ONCE && suspects.length > 0) {
      const [item, ...rest] = suspects;
      suspects = rest;
      if (item === undefined) return;
      suspectsWriting += 1;
      void writeSuspect(item).finally(() => {
        suspectsWriting -= 1;
        suspectRuns.delete(item.entry.lease.runId);
        writeSuspects();
        if (waiting.length > 0) drainSoon();
      });
    }
  };

  const writeSuspect = async (item: Waiting): Promise<void> => {
    const { written, error } = await writer.write([item.entry], ENTRY_TRIES_MAX);
    if (error === null) tell([item], written);
    else item.reject(unwritable(error));
  };

  const tell = (batch: readonly Waiting[], written: ReadonlySet<string>): void => {
    for (const item of batch) item.resolve(written.has(item.entry.lease.runId));
    const committed = batch
      .map(({ entry }) => entry)
      .filter(({ lease }) => written.has(lease.runId));
    for (const { staged } of committed) for (const each of staged) each.committed?.();
    onCommitted(committed);
  };

  /** A batch holds at most one entry of a run, so that each statement sees a run once. */
  const takeBatch = (): Waiting[] => {
    const batch: Waiting[] = [];
    const later: Waiting[] = [];
    const runIds = new Set(suspectRuns);
    let chars = 0;
    for (const item of waiting) {
      const { runId } = item.entry.lease;
      const fits = batch.length < BATCH_MAX && chars < BATCH_CHARS_MAX;
      if (fits && !runIds.has(runId)) {
        batch.push(item);
        chars += item.entry.chars;
      } else later.push(item);
      runIds.add(runId);
    }
    waiting = later;
    return batch;
  };

  const writeBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const entries = batch.map(({ entry }) => entry);
    const startedAt = performance.now();
    const { written, error } = await writer.write(entries, 1);
    options.journalObserver?.batchWritten({
      entries: batch.length,
      bytes: entries.reduce((bytes, { chars }) => bytes + chars, 0),
      ms: performance.now() - startedAt,
    });
    if (error === null) return tell(batch, written);
    logger.warn({ err: error, runs: batch.length }, "a batch failed; writing run by run");
    const [done, failed] = partition(batch, ({ entry }) => written.has(entry.lease.runId));
    tell(done, written);
    for (const item of failed) suspectRuns.add(item.entry.lease.runId);
    suspects.push(...failed);
    writeSuspects();
  };

  return {
    write(entry) {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, resolve, reject });
        drainSoon();
      });
    },
  };
}

/** A reason of its own: an unavailable database would be waited for without end. */
function unwritable(cause: unknown): AppError {
  return new AppError("INTERNAL_ERROR", "An internal error occurred.", {
    internal: "a checkpoint could not be written",
    cause,
  });
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  const first: T[] = [];
  const second: T[] = [];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}
