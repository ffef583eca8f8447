import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Transaction } from "@workflow/db";
import { databaseErrorToAppError } from "@workflow/db";
import type { Logger } from "pino";
import { cancelWaitingApprovals } from "../store/approvals.ts";
import {
  deleteOpenSteps,
  deleteOpenStepsOf,
  deleteResultsInside,
  settledRuns,
  upsertOpenSteps,
  writeCheckpoints,
} from "../store/write-journal.ts";
import { listWrittenBy } from "../store/transaction-outcome.ts";
import type { RuntimeWorker, Settlement } from "../task-runtime/port.ts";
import type { EndHook } from "./end-hooks.ts";
import type { JournalEntry } from "./journal.ts";

/** Writes checkpoints of runs. */
export interface JournalWriter {
  /**
   * Writes one checkpoint; entries of one run are written in the order of the calls.
   *
   * @returns whether the lease still held; if not, nothing was written and the execution must stop
   */
  write: (entry: JournalEntry) => Promise<boolean>;
}

/** What the writer tells of after each commit. */
export interface JournalWriterOptions {
  database: Database;
  worker: RuntimeWorker;
  logger: Logger;
  endHooks: readonly EndHook[];
  /** Called with the entries that were committed; must not throw. */
  onCommitted: (entries: readonly JournalEntry[]) => void;
}

interface Waiting {
  entry: JournalEntry;
  resolve: (written: boolean) => void;
  reject: (error: unknown) => void;
}

/** A transaction whose outcome is not known yet. */
interface Attempt {
  transactionId: string;
  /** The runs that it writes. */
  runIds: readonly string[];
}

const BATCH_MAX = 250;
/** Documents of one batch; a statement carries them all in one parameter. */
const BATCH_CHARS_MAX = 16 * 1024 * 1024;
const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 2_000;

/**
 * One transaction at a time takes everything that has gathered since the last one: at a low rate a
 * checkpoint is written at once, at a high one hundreds share one commit.
 */
export function createJournalWriter(options: JournalWriterOptions): JournalWriter {
  const { database, worker, logger, onCommitted } = options;
  let waiting: Waiting[] = [];
  let writing = false;

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = takeBatch();
      await writeBatch(batch);
    }
    writing = false;
  };

  /** A batch holds at most one entry of a run, so that each statement sees a run once. */
  const takeBatch = (): Waiting[] => {
    const batch: Waiting[] = [];
    const later: Waiting[] = [];
    const runIds = new Set<string>();
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
    const entries = batch.map((item) => item.entry);
    let written: Set<string>;
    try {
      written = await commitWithPatience(entries);
    } catch (error) {
      if (batch.length === 1) {
        batch[0]?.reject(error);
        return;
      }
      // One entry that cannot be stored must not fail the others.
      logger.error({ err: error, runs: batch.length }, "a batch failed; writing run by run");
      for (const item of batch) await writeBatch([item]);
      return;
    }
    for (const item of batch) item.resolve(written.has(item.entry.lease.runId));
    onCommitted(entries.filter((entry) => written.has(entry.lease.runId)));
  };

  /**
   * While Postgres is away the leases' tasks cannot go to anyone else either: so wait. The answer to
   * a commit may be lost though the commit was not; then it must not be written once more.
   */
  const commitWithPatience = async (entries: readonly JournalEntry[]): Promise<Set<string>> => {
    const written = new Set<string>();
    const attempts: Attempt[] = [];
    for (let backoffMs = BACKOFF_MIN_MS; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS)) {
      try {
        const last = attempts.at(-1);
        if (last !== undefined) {
          const before = await listWrittenBy(database, last.transactionId, last.runIds);
          for (const runId of before) written.add(runId);
        }
        const rest = entries.filter(({ lease }) => !written.has(lease.runId));
        const now = await commit(rest, (attempt) => attempts.push(attempt));
        for (const runId of now) written.add(runId);
        worker.settled(settlementsOf(entries.filter(({ lease }) => written.has(lease.runId))));
        return written;
      } catch (error) {
        const passing = databaseErrorToAppError(error).reason === "UNAVAILABLE";
        if (!passing || entries.every((entry) => entry.lease.signal.aborted)) throw error;
        logger.warn({ err: error, runs: entries.length }, "could not write; trying again");
        await sleep(backoffMs);
      }
    }
  };

  /** `onWritten` hears what is about to be committed. */
  const commit = (
    entries: readonly JournalEntry[],
    onWritten: (attempt: Attempt) => void,
  ): Promise<Set<string>> => {
    if (entries.length === 0) return Promise.resolve(new Set());
    return database.transaction(async (transaction) => {
      const settlements = settlementsOf(entries);
      const settled =
        forgottenOf(entries).length === 0 && worker.settleCte !== undefined
          ? ({ by: "itself", ctes: worker.settleCte(settlements) } as const)
          : settledRuns(await settleAndForget(transaction, settlements, entries));
      const written = await writeCheckpoints(transaction, settled, entries);
      if (written.some(({ changed }) => !changed)) {
        throw new Error("a leased task belongs to a run that has ended");
      }
      const owned = new Set(written.map((row) => row.run_id));
      const [first] = written;
      if (first !== undefined) {
        await writeRest(
          transaction,
          entries.filter(({ lease }) => owned.has(lease.runId)),
          options.endHooks,
        );
        onWritten({ runIds: [...owned], transactionId: first.transaction_id });
      }
      return owned;
    });
  };

  /** The old results go by a statement of their own, before new ones take their paths. */
  const settleAndForget = async (
    transaction: Transaction,
    settlements: readonly Settlement[],
    entries: readonly JournalEntry[],
  ): Promise<Set<string>> => {
    const owned = await worker.settle(transaction, settlements);
    const forgotten = forgottenOf(entries).filter(({ runId }) => owned.has(runId));
    if (forgotten.length > 0) await deleteResultsInside(transaction, forgotten);
    return owned;
  };

  return {
    write(entry) {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, resolve, reject });
        if (writing) return;
        writing = true;
        // In the next turn, so that runs that reach a checkpoint together share the first commit.
        setImmediate(() => void drain());
      });
    },
  };
}

function forgottenOf(entries: readonly JournalEntry[]): { runId: string; path: string }[] {
  return entries.flatMap(({ lease, forgotten }) =>
    forgotten.map((path) => ({ runId: lease.runId, path })),
  );
}

/** What only some checkpoints have: steps that wait, or do so no more, and the ends of runs. */
async function writeRest(
  transaction: Transaction,
  entries: readonly JournalEntry[],
  endHooks: readonly EndHook[],
): Promise<void> {
  const opened = entries.flatMap(({ lease, opened }) =>
    opened.map((step) => ({ runId: lease.runId, step })),
  );
  const closed = entries.flatMap(({ lease, closed }) =>
    closed.map((path) => ({ runId: lease.runId, path })),
  );
  const ended = entries
    .filter((entry) => entry.next === "done" && entry.run.status !== "completed")
    .map(({ lease }) => lease.runId);
  const asking = entries
    .filter((entry) => entry.ended !== null && entry.asksApproval)
    .map(({ lease }) => lease.runId);
  const endings = entries.flatMap((entry) => entry.ended ?? []);
  if (opened.length > 0) await upsertOpenSteps(transaction, opened);
  if (closed.length > 0) await deleteOpenSteps(transaction, closed);
  if (ended.length > 0) await deleteOpenStepsOf(transaction, ended);
  if (asking.length > 0) await cancelWaitingApprovals(transaction, asking);
  if (endings.length > 0) for (const hook of endHooks) await hook(transaction, endings);
}

function settlementsOf(entries: readonly JournalEntry[]): Settlement[] {
  return entries.map(({ lease, next, wakeAt }) =>
    next === "park" ? { lease, next, wakeAt } : { lease, next },
  );
}
