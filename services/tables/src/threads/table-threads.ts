import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { CompanyConnections } from "../company-connections.ts";
import type { RowQuery } from "../domain/row-query.ts";
import type { AggregateQuery, DistinctQuery, DistinctValues } from "../engine/index.ts";
import type { CacheUsage, MemoryUse } from "../memory/cache-events.ts";
import type { Answered, Figures, Reader, RowPage } from "../snapshots/index.ts";
import { LoadLimits } from "../memory/load-limits.ts";
import { countEvents, showCache } from "../snapshots/metrics.ts";
import type { ReadingCaller } from "../store/reading-database.ts";
import type { TableHead, TableName } from "../store/states.ts";
import type { SpillPlace } from "../memory/spill-file.ts";
import { Thread, ThreadEnded } from "./thread.ts";
import { Trials } from "./trials.ts";

/** The options of the threads. */
export interface TableThreadsOptions {
  connections: CompanyConnections;
  /** The number of threads. */
  threads: number;
  /** The bytes of memory for columns of all threads together. */
  cacheBytesMax: number;
  /**
   * The bytes that questions of one company may use of one thread at a time; see `TableReaderOptions`.
   */
  companyBytesMax?: number | undefined;
  /**
   * The place on disk for columns that do not fit into memory, for all threads together; none by default.
   */
  spill?: SpillPlace | undefined;
  /**
   * The MiB that V8 may use for the objects of one thread; by default the most that its columns may need.
   */
  heapMb?: number | undefined;
  /**
   * The milliseconds for which questions about a table are refused after the first thread that it has ended; 1,000
   * by default.
   */
  refusalMs?: number | undefined;
  metricsRegistry?: Registry | undefined;
  logger: Logger;
}

/** The MiB for statements under way, beside all columns in use. */
const HEAP_BASE_MB = 256;
const MIB = 1024 * 1024;
/** One failure of the disk is logged within this time. */
const FAULT_LOG_MS = 60_000;

/**
 * Answers questions about tables in threads, so that no question holds the service's own thread. A table belongs to
 * one thread, by its id. A thread that ends loses its columns and nothing else. Another one takes its place, and
 * its questions are repeated one at a time (`Trials`).
 */
export class TableThreads implements Reader {
  readonly #options: TableThreadsOptions;
  readonly #threads: Thread[] = [];
  readonly #events: ReturnType<typeof countEvents>;
  readonly #trials: Trials;
  #hasStopped = false;
  #silentUntil = 0;

  constructor(options: TableThreadsOptions) {
    this.#options = options;
    const { threads, metricsRegistry } = options;
    this.#events = countEvents(metricsRegistry, () => this.#usage());
    for (let place = 0; place < threads; place += 1) this.#threads.push(this.#start());
    const onRefused = (): void => this.#events.count("refused");
    this.#trials = new Trials({ threads, firstMs: options.refusalMs, onRefused });
    showCache(metricsRegistry, { memoryUse: () => this.#memoryUse() });
  }

  page(head: TableHead, query: RowQuery, caller?: ReadingCaller): Promise<Answered<RowPage>> {
    return this.#askTwice(head, caller, (thread) => thread.page(head, query, caller));
  }

  distinct(
    head: TableHead,
    query: DistinctQuery,
    caller?: ReadingCaller,
  ): Promise<Answered<DistinctValues>> {
    return this.#askTwice(head, caller, (thread) =>
      thread.ask("distinct", { kind: "distinct", query: { head, query } }, caller),
    );
  }

  figures(
    head: TableHead,
    query: AggregateQuery,
    caller?: ReadingCaller,
  ): Promise<Answered<Figures>> {
    return this.#askTwice(head, caller, (thread) =>
      thread.ask("figures", { kind: "figures", query: { head, query } }, caller),
    );
  }

  invalidate(table: TableName): void {
    this.#threads[this.#placeOf(table)]?.invalidate(table);
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  async #askTwice<Answer>(
    table: TableName,
    caller: ReadingCaller | undefined,
    ask: (thread: Thread) => Promise<Answer>,
  ): Promise<Answer> {
    this.#trials.requireAdmitted(table);
    const onTrial = () => this.#askOnTrial(table, caller, () => ask(this.#threadOf(table)));
    if (this.#trials.isOnProbation(table)) return onTrial();
    try {
      return await ask(this.#threadOf(table));
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
    }
    return onTrial();
  }

  #askOnTrial<Answer>(
    table: TableName,
    caller: ReadingCaller | undefined,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const isOver = (): boolean => this.#hasStopped;
    const trial = { place: this.#placeOf(table), isOver, ...(caller && { caller }) };
    return this.#trials.run(table, ask, trial);
  }

  #placeOf({ tableId }: TableName): number {
    return Number.parseInt(tableId.slice(-8), 16) % this.#threads.length;
  }

  /** The thread of a table; the first question after its end replaces it. */
  #threadOf(table: TableName): Thread {
    const place = this.#placeOf(table);
    const known = this.#threads[place];
    if (known !== undefined && (!known.hasEnded || this.#hasStopped)) return known;
    const fresh = this.#start();
    this.#threads[place] = fresh;
    return fresh;
  }

  #start(): Thread {
    const { connections, threads, cacheBytesMax, spill, logger } = this.#options;
    const bytes = Math.ceil(cacheBytesMax / threads);
    const inUseMax = 2 * LoadLimits.companyBytesMax(bytes);
    const { heapMb = HEAP_BASE_MB + Math.ceil(inUseMax / MIB) } = this.#options;
    return new Thread({
      connections,
      cacheBytesMax: bytes,
      companyBytesMax: this.#options.companyBytesMax,
      spill: spill && { ...spill, bytesMax: Math.floor(spill.bytesMax / threads) },
      heapMb,
      onEvents: (events) => {
        for (const [event, count] of events) this.#events.count(event, count);
      },
      onFault: (err) => this.#logFault(err),
      onLost: (err) => {
        this.#events.threadLost();
        logger.error({ err }, "a thread of data tables has ended; its columns are read again");
      },
    });
  }

  /** A full disk fails with each column, so not every failure is logged. */
  #logFault(err: Error): void {
    const now = performance.now();
    if (now < this.#silentUntil) return;
    this.#silentUntil = now + FAULT_LOG_MS;
    this.#options.logger.warn({ err }, "TABLES_SPILL_DIR: the disk for columns has failed");
  }

  #usage(): CacheUsage {
    const usages = this.#threads.map(({ usage }) => usage);
    return {
      tables: usages.reduce((sum, { tables }) => sum + tables, 0),
      bytes: usages.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  #memoryUse(): Promise<readonly MemoryUse[]> {
    return Promise.all(this.#threads.map(memoryUseOf));
  }
}

/** A thread that has ended holds nothing. */
async function memoryUseOf(thread: Thread): Promise<MemoryUse> {
  try {
    return await thread.ask("memoryUse", { kind: "memoryUse", query: null });
  } catch (error) {
    if (error instanceof ThreadEnded) {
      return { companies: new Map(), bytesInUse: 0, spilledBytes: 0 };
    }
    throw error;
  }
}
