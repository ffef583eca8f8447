import { backoffMs, sleep } from "@workflow/async";
import type { Database, Queryable, Transaction } from "@workflow/db";
import { databaseErrorToAppError, sqlStateOf } from "@workflow/db";
import type { Logger } from "pino";
import { cancelWaitingApprovals } from "../store/approvals.ts";
import { settleEntries } from "../store/settle-entries.ts";
import {
  deleteOpenSteps,
  deleteOpenStepsOf,
  deleteResults,
  deleteResultsInside,
  heldRuns,
  lockAcquired,
  upsertOpenSteps,
  writeCheckpoints,
} from "../store/write-journal.ts";
import type { HeldRuns, WrittenRun } from "../store/write-journal.ts";
import type { Lease, Settlement } from "../task-runtime/port.ts";
import { runEndHooks } from "./end-hooks.ts";
import type { EndHook } from "./end-hooks.ts";
import type { JournalEntry } from "./journal-entry.ts";
import type { RuntimeWorker } from "../task-runtime/runtime.ts";

/** The options of an entry writer. */
export interface EntryWriterOptions {
  database: Database;
  worker: RuntimeWorker;
  logger: Logger;
  endHooks: readonly EndHook[];
}

/** SQLSTATEs of a statement that took too long or met a conflict with others. */
const STATEMENT_STATES: ReadonlySet<string> = new Set(["57014", "55P03", "40001", "40P01"]);
const BACKOFF = { firstMs: 50, maxMs: 2_000 } as const;

/**
 * Writes entries of different runs together, each of them once. Entries that only bring results are one
 * statement, which is its own transaction. A run's row holds the number of its last entry (ADR 34).
 */
export class EntryWriter {
  readonly #options: EntryWriterOptions;
  /** The number of the last entry of a run's journal, as far as this lease has written. */
  readonly #entries = new WeakMap<Lease, number>();

  constructor(options: EntryWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes entries. While Postgres is away no other worker can claim the leases' tasks either, so this
   * waits. The answer to a committed statement may be lost: then it must not be written again.
   *
   * @param triesMax how often the entries themselves may fail, for example by a statement's time limit
   * @returns the runs that were written, and the error of the others when they could not be
   */
  async write(
    entries: readonly JournalEntry[],
    triesMax: number,
  ): Promise<{ written: Set<string>; error: unknown }> {
    const { logger } = this.#options;
    const written = new Set<string>();
    const rest = (): JournalEntry[] => entries.filter(({ lease }) => !written.has(lease.runId));
    let unsure: readonly JournalEntry[] = [];
    let tries = 0;
    for (let failures = 1; ; failures += 1) {
      let error: unknown;
      try {
        for (const runId of await this.#settle(unsure)) written.add(runId);
        unsure = [];
        const trying = rest();
        error = await this.#tryOnce(trying, written);
        if (error !== null) {
          unsure = trying;
          const away = databaseErrorToAppError(error).reason === "UNAVAILABLE";
          if (!away || isOfStatement(error)) tries += 1;
        }
      } catch (thrown) {
        error = thrown;
      }
      const isOver =
        error === null || tries >= triesMax || entries.every(({ lease }) => lease.signal.aborted);
      if (isOver) {
        this.#tellRuntime(entries.filter(({ lease }) => written.has(lease.runId)));
        return { written, error };
      }
      logger.warn({ err: error, runs: entries.length }, "could not write; trying again");
      await sleep(backoffMs(failures, BACKOFF));
    }
  }

  /**
   * Adds the runs that it has written. Returns the reason when some that still hold their lease are
   * missing.
   */
  async #tryOnce(entries: readonly JournalEntry[], written: Set<string>): Promise<unknown> {
    if (entries.length === 0) return null;
    try {
      const held = entries.every((entry) => this.#isPlain(entry)) ? this.#heldNow(entries) : null;
      const rows =
        held === null
          ? await this.#transact(entries)
          : await this.#writeCheckpoints(this.#options.database, held, entries);
      const changed = new Set(rows.filter((row) => row.changed).map(({ runId }) => runId));
      for (const { lease } of entries) {
        if (!changed.has(lease.runId)) continue;
        written.add(lease.runId);
        this.#entries.set(lease, this.#entryOf(lease) + 1);
      }
      return changed.size === rows.length ? null : illegalStep();
    } catch (error) {
      return error;
    }
  }

  /** Finds out which of the entries without an answer were written; returns their runs. */
  async #settle(unsure: readonly JournalEntry[]): Promise<string[]> {
    if (unsure.length === 0) return [];
    const settled = await settleEntries(
      this.#options.database,
      unsure.map(({ lease }) => ({
        runId: lease.runId,
        fence: lease.fence,
        after: this.#entryOf(lease),
      })),
    );
    const leases = new Map(unsure.map(({ lease }) => [lease.runId, lease]));
    for (const { runId, entry } of settled) {
      const lease = leases.get(runId);
      if (lease !== undefined) this.#entries.set(lease, entry);
    }
    return settled.filter(({ written }) => written).map(({ runId }) => runId);
  }

  #entryOf(lease: Lease): number {
    return this.#entries.get(lease) ?? 0;
  }

  /** Whether nothing is written but the run's row, results and events. */
  #isPlain(entry: JournalEntry): boolean {
    const { endHooks } = this.#options;
    const { ended } = entry;
    return (
      !forgets(entry) &&
      entry.opened.length === 0 &&
      entry.closed.length === 0 &&
      entry.staged.length === 0 &&
      !(entry.next === "done" && entry.run.status !== "completed") &&
      (ended === null || !(entry.asksApproval || endHooks.some((hook) => hook.concerns(ended))))
    );
  }

  #transact(entries: readonly JournalEntry[]): Promise<readonly WrittenRun[]> {
    const { database, endHooks } = this.#options;
    return database.transaction(async (transaction) => {
      const held =
        this.#heldNow(entries) ?? heldRuns(await this.#settleAndForget(transaction, entries));
      const rows = await this.#writeCheckpoints(transaction, held, entries);
      if (rows.some(({ changed }) => !changed)) throw illegalStep();
      const owned = new Set(rows.map((row) => row.runId));
      const written = entries.filter(({ lease }) => owned.has(lease.runId));
      if (written.length > 0) await writeRest(transaction, written, endHooks);
      return rows;
    });
  }

  /**
   * The part of the statement that finds the valid leases; null where that takes a statement of its own.
   */
  #heldNow(entries: readonly JournalEntry[]): HeldRuns | null {
    const { settling } = this.#options.worker;
    if (settling === undefined || entries.some(forgets)) return null;
    return {
      by: "itself",
      ctes: settling.heldCte(settlementsOf(entries)),
      settle: settling.settleCte(),
    };
  }

  #writeCheckpoints(
    queryable: Queryable,
    held: HeldRuns,
    entries: readonly JournalEntry[],
  ): Promise<readonly WrittenRun[]> {
    const rows = entries.map((entry) => ({ ...entry, after: this.#entryOf(entry.lease) }));
    return writeCheckpoints(queryable, held, rows);
  }

  /** Tells a runtime that does not settle with the journal about progress, and of the rest in the end. */
  #tellRuntime(written: readonly JournalEntry[]): void {
    const { worker, logger } = this.#options;
    if (worker.settling !== undefined) return worker.settling.settled(settlementsOf(written));
    const going = written.filter(({ next }) => next === "keep").map(({ lease }) => lease);
    worker.progressed(going).catch((error: unknown) => {
      logger.warn({ err: error }, "could not tell the task runtime of progress");
    });
  }

  /** A statement of its own deletes the old results, before new ones take their paths. */
  async #settleAndForget(
    transaction: Transaction,
    entries: readonly JournalEntry[],
  ): Promise<Set<string>> {
    const { settling } = this.#options.worker;
    const owned =
      settling === undefined
        ? await lockAcquired(
            transaction,
            entries.map(({ lease }) => lease),
          )
        : await settling.settle(transaction, settlementsOf(entries));
    const held = entries.filter(({ lease }) => owned.has(lease.runId));
    const forgotten = pathsOf(held, (entry) => entry.forgotten);
    const dropped = pathsOf(held, (entry) => entry.dropped);
    if (forgotten.length > 0) await deleteResultsInside(transaction, forgotten);
    if (dropped.length > 0) await deleteResults(transaction, dropped);
    return owned;
  }
}

function illegalStep(): Error {
  return new Error("a leased run may not go to the status that was written");
}

/** Whether the statement failed as such: over its time limit, or in conflict with others. */
function isOfStatement(error: unknown): boolean {
  return STATEMENT_STATES.has(sqlStateOf(error) ?? "");
}

function forgets({ forgotten, dropped }: JournalEntry): boolean {
  return forgotten.length > 0 || dropped.length > 0;
}

function pathsOf(
  entries: readonly JournalEntry[],
  which: (entry: JournalEntry) => readonly string[],
): { runId: string; path: string }[] {
  return entries.flatMap((entry) =>
    which(entry).map((path) => ({ runId: entry.lease.runId, path })),
  );
}

/** Writes what only some checkpoints have: steps that begin or end to wait, and the ends of runs. */
async function writeRest(
  transaction: Transaction,
  entries: readonly JournalEntry[],
  endHooks: readonly EndHook[],
): Promise<void> {
  const opened = entries.flatMap(({ lease, opened }) =>
    opened.map((step) => ({ runId: lease.runId, step })),
  );
  const closed = pathsOf(entries, (entry) => entry.closed);
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
  for (const { staged } of entries) for (const each of staged) await each.write(transaction);
  if (asking.length > 0) await cancelWaitingApprovals(transaction, asking);
  await runEndHooks(transaction, endHooks, endings);
}

function settlementsOf(entries: readonly JournalEntry[]): Settlement[] {
  return entries.map(({ lease, next, forMs }) =>
    next === "park" ? { lease, next, forMs } : { lease, next },
  );
}
