import { answerTogether, Batcher } from "@workflow/async";
import type { Asked } from "@workflow/async";
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

type Waiting = Asked<JournalEntry, boolean>;

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

  const tell = (batch: readonly Waiting[], written: ReadonlySet<string>): void => {
    for (const { item, resolve } of batch) resolve(written.has(item.lease.runId));
    const committed = batch.map(({ item }) => item).filter(({ lease }) => written.has(lease.runId));
    for (const { staged } of committed) for (const each of staged) each.committed?.();
    onCommitted(committed);
  };

  const suspects = createSuspects(
    async (suspect) => {
      const { written, error } = await writer.write([suspect.item], ENTRY_TRIES_MAX);
      if (error === null) tell([suspect], written);
      else suspect.reject(unwritable(error));
    },
    () => entries.resume(),
  );

  const writeBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const items = batch.map(({ item }) => item);
    const startedAt = performance.now();
    const { written, error } = await writer.write(items, 1);
    options.journalObserver?.batchWritten({
      entries: batch.length,
      bytes: items.reduce((bytes, { chars }) => bytes + chars, 0),
      ms: performance.now() - startedAt,
    });
    if (error === null) return tell(batch, written);
    logger.warn({ err: error, runs: batch.length }, "a batch failed; writing run by run");
    const [done, failed] = partition(batch, ({ item }) => written.has(item.lease.runId));
    tell(done, written);
    for (const suspect of failed) suspects.add(suspect);
  };

  const entries = new Batcher<JournalEntry, boolean>({
    itemsMax: BATCH_MAX,
    sizeMax: BATCH_CHARS_MAX,
    sizeOf: ({ chars }) => chars,
    // A batch holds at most one entry of a run, so that each statement sees a run once.
    keyOf: ({ lease }) => lease.runId,
    isHeld: (runId) => suspects.haveRun(runId),
    batchesMax: 1,
    handle: writeBatch,
  });
  return { write: (entry) => entries.ask(entry) };
}

/**
 * Entries of failed batches, each written by itself. Nothing later of their runs may be written before.
 *
 * @param write writes one entry and answers its caller
 * @param onSettled called whenever a run may be written again
 */
function createSuspects(write: (suspect: Waiting) => Promise<void>, onSettled: () => void) {
  const runs = new Set<string>();
  const writeAlone = async (suspect: Waiting): Promise<void> => {
    try {
      await write(suspect);
    } finally {
      runs.delete(suspect.item.lease.runId);
      onSettled();
    }
  };
  const batcher = new Batcher<Waiting, void>({
    itemsMax: 1,
    batchesMax: SUSPECTS_AT_ONCE,
    handle: answerTogether((waiting) => Promise.all(waiting.map(writeAlone))),
  });
  return {
    haveRun: (runId: string) => runs.has(runId),
    add(suspect: Waiting): void {
      runs.add(suspect.item.lease.runId);
      batcher.ask(suspect).catch(suspect.reject);
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
