import type { RowQuery } from "../domain/row-query.ts";
import type { AggregateQuery, DistinctQuery, DistinctValues } from "../engine/index.ts";
import type { ReadingCaller, ReadingConnections } from "../store/reading-database.ts";
import { isSameHead } from "../store/states.ts";
import type { TableHead, TableName } from "../store/states.ts";
import { answerBy } from "./answer.ts";
import type { Asked } from "./answer.ts";
import type { CacheUsage, MemoryUse, OnCacheEvent } from "../memory/cache-events.ts";
import type { Figures } from "./figures.ts";
import { LiveTable } from "./live-table.ts";
import { LoadLimits } from "../memory/load-limits.ts";
import { MemoryBudget } from "../memory/memory-budget.ts";
import { readPage } from "./read-page.ts";
import type { ReadPage, RowPage } from "./read-page.ts";
import { aggregateQuestion, distinctQuestion, pageQuestion } from "./question.ts";
import type { PagePlan, Question } from "./question.ts";
import { Slices } from "../memory/slices.ts";
import { SpillDisk } from "../memory/spill-disk.ts";
import type { SpillFile, SpillPlace } from "../memory/spill-file.ts";
import { TableMemory } from "./table-memory.ts";
import { createTableSpills, TableSpill } from "./table-spill.ts";
import type { TableSpills } from "./table-spill.ts";

/** An answer; null when the head is not the table's any more, so that the question may mean another one. */
export type Answered<Answer> = { answer: Answer } | null;

/**
 * Answers questions about tables. All methods throw NOT_FOUND when the company has no such table, and the
 * reason of the caller's signal when the caller goes before the answer comes: the work ends then.
 */
export interface Reader {
  page(head: TableHead, query: RowQuery, caller?: ReadingCaller): Promise<Answered<RowPage>>;
  distinct(
    head: TableHead,
    query: DistinctQuery,
    caller?: ReadingCaller,
  ): Promise<Answered<DistinctValues>>;
  figures(
    head: TableHead,
    query: AggregateQuery,
    caller?: ReadingCaller,
  ): Promise<Answered<Figures>>;
  /** To be told that a table is gone, or was never there for this company. */
  invalidate(table: TableName): void;
}

/** Of the memory for columns, as much may be on its way to disk besides. */
const PENDING_PART = 1 / 8;
const PENDING_BYTES_MIN = 4 * 1024 * 1024;

/** What a table reader needs. */
export interface TableReaderOptions {
  connections: ReadingConnections;
  /** Memory for columns. */
  cacheBytesMax: number;
  /** What questions of one company may use at a time; by default as much, or 64 MiB if that is more. */
  companyBytesMax?: number | undefined;
  /** Where columns go for which memory has no room; without it they are read from the database again. */
  spill?: (Omit<SpillPlace, "directory"> & { readonly file: SpillFile }) | undefined;
  onEvent?: OnCacheEvent;
}

/**
 * Answers questions about tables from columns in memory. Each answer is that of one revision of the
 * table, and of none that was replaced before the question came: what any process has committed by then
 * is seen.
 *
 * What goes in and comes out is plain data, which is sent from and to another thread; columns and the
 * reading of the database that keeps them current never leave this class.
 */
export class TableReader implements Reader {
  readonly #connections: ReadingConnections;
  readonly #budget: MemoryBudget;
  readonly #limits: LoadLimits;
  readonly #onEvent: OnCacheEvent;
  readonly #slices = new Slices();
  readonly #disk: SpillDisk | null;
  readonly #spills: TableSpills | null;
  readonly #tables = new Map<string, LiveTable>();

  constructor(options: TableReaderOptions) {
    const { cacheBytesMax, onEvent = () => {} } = options;
    const { companyBytesMax = LoadLimits.companyBytesMax(cacheBytesMax) } = options;
    this.#connections = options.connections;
    this.#onEvent = onEvent;
    this.#budget = new MemoryBudget(cacheBytesMax, () => onEvent("evicted"));
    this.#limits = new LoadLimits(this.#budget, companyBytesMax, (limit) =>
      onEvent(`refused ${limit}`),
    );
    const { spill } = options;
    const pendingBytesMax = Math.max(cacheBytesMax * PENDING_PART, PENDING_BYTES_MIN);
    this.#disk =
      spill === undefined
        ? null
        : new SpillDisk({ ...spill, pendingBytesMax, slices: this.#slices, onEvent });
    this.#spills = this.#disk === null ? null : createTableSpills(this.#disk, spill?.rowsMin);
  }

  /** Estimate of the memory in use. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /** What is in memory. */
  get usage(): CacheUsage {
    return {
      tables: this.#tables.size,
      bytes: this.#budget.bytes,
      spilledBytes: this.#disk?.bytes ?? 0,
    };
  }

  /** What the memory is taken up by. */
  memoryUse(): MemoryUse {
    return { companies: this.#budget.companyBytes(), bytesInUse: this.#budget.bytesInUse() };
  }

  /**
   * A page of the rows that a query selects. It costs one round trip to the database when the columns
   * are in memory and nothing was written since the query before.
   *
   * @param read reads the rows; in a thread that has no connections: has them read
   */
  page(
    head: TableHead,
    query: RowQuery,
    caller?: ReadingCaller,
    read: ReadPage = readPage,
  ): Promise<Answered<RowPage>> {
    const asked: Asked<PagePlan, RowPage> = {
      question: pageQuestion(query),
      noticesOldColumns: true,
      // Asked first: the snapshot may go on while the rows are read.
      finish: (database, plan, { snapshot: { history } }, isCurrent) =>
        read(database, { head, plan, history, isCurrent }),
    };
    return this.#answer(head, asked, caller);
  }

  /** The different values of a column. It costs one round trip when the columns are in memory. */
  distinct(
    head: TableHead,
    query: DistinctQuery,
    caller?: ReadingCaller,
  ): Promise<Answered<DistinctValues>> {
    return this.#ask(head, distinctQuestion(query), caller);
  }

  /** Figures. They cost one round trip when the columns are in memory. */
  figures(
    head: TableHead,
    query: AggregateQuery,
    caller?: ReadingCaller,
  ): Promise<Answered<Figures>> {
    return this.#ask(head, aggregateQuestion(query), caller);
  }

  /** To be told that a table is gone, or was never there for this company. */
  invalidate(table: TableName): void {
    const { companyId, tableId } = table;
    const live = this.#tables.get(tableId);
    if (live?.table.companyId === companyId) live.memory.drop("useless");
    else new TableSpill(this.#spills, table).forget();
  }

  /** Of columns that have caught up there is nothing more to be read. */
  #ask<Answer>(
    head: TableHead,
    question: Question<Answer>,
    caller: ReadingCaller | undefined,
  ): Promise<Answered<Answer>> {
    const asked: Asked<Answer, Answer> = {
      question,
      noticesOldColumns: false,
      finish: async (_database, answer, seen) =>
        isSameHead(seen.head, head) ? { answer } : "other head",
    };
    return this.#answer(head, asked, caller);
  }

  #answer<Plan, Answer>(
    head: TableHead,
    asked: Asked<Plan, Answer>,
    caller: ReadingCaller | undefined,
  ): Promise<Answered<Answer>> {
    return answerBy(this.#liveTable(head), asked, {
      database: this.#connections.of(head.companyId, caller),
      slices: this.#slices,
      onEvent: this.#onEvent,
      signal: caller?.signal,
    });
  }

  #liveTable(head: TableHead): LiveTable {
    const { tableId, tableKey, companyId } = head;
    const known = this.#tables.get(tableId);
    if (known?.table.tableKey === tableKey) {
      this.#onEvent("table hit");
      return known;
    }
    this.#onEvent("table miss");
    // In another history the table may have another key.
    known?.memory.drop("useless");
    const memory = new TableMemory({ budget: this.#budget, limits: this.#limits }, companyId);
    const connections = this.#connections;
    const live = new LiveTable({
      connections,
      slices: this.#slices,
      memory,
      spills: this.#spills,
      head,
      onEvent: this.#onEvent,
    });
    memory.onDropped(() => {
      if (this.#tables.get(tableId) === live) this.#tables.delete(tableId);
    });
    this.#tables.set(tableId, live);
    return live;
  }
}
