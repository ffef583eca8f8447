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

/**
 * An answer; null when the caller's head of the table is out of date, so that the question may mean something else.
 */
export type Answered<Answer> = { answer: Answer } | null;

/**
 * Answers questions about tables. All methods throw NOT_FOUND when the company has no such table, and the reason of
 * the caller's signal when the caller leaves before the answer, which ends the work.
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
  /** Forgets a table that is gone, or that this company never had. */
  invalidate(table: TableName): void;
}

/** The share of the memory for columns that may be on its way to disk besides. */
const PENDING_PART = 1 / 8;
const PENDING_BYTES_MIN = 4 * 1024 * 1024;

/** The options of a table reader. */
export interface TableReaderOptions {
  connections: ReadingConnections;
  /** The bytes of memory for columns. */
  cacheBytesMax: number;
  /**
   * The bytes that questions of one company may use at a time; by default the same, or 64 MiB if that is more.
   */
  companyBytesMax?: number | undefined;
  /**
   * The place on disk for columns that do not fit into memory; without it they are read from the database again.
   */
  spill?:
    | (Omit<SpillPlace, "directory"> & {
        readonly file: SpillFile;
        readonly onFault: (error: unknown) => void;
      })
    | undefined;
  onEvent?: OnCacheEvent;
}

/**
 * Answers questions about tables from columns in memory. Each answer belongs to one revision of the table, which
 * was the newest when the question came or a later one. So it includes everything that any process had committed by
 * then. Questions and answers are plain data, which can be sent between threads. Columns, and the statements that
 * keep them current, never leave this class.
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

  /** The estimated bytes in use. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /** The content of the memory. */
  get usage(): CacheUsage {
    return { tables: this.#tables.size, bytes: this.#budget.bytes };
  }

  /** The memory by company. */
  memoryUse(): MemoryUse {
    return {
      companies: this.#budget.companyBytes(),
      bytesInUse: this.#budget.bytesInUse(),
      spilledBytes: this.#disk?.bytes ?? 0,
    };
  }

  /**
   * A page of the rows that a query selects. It costs one round trip to the database when the columns are in memory
   * and nothing was written since the last query.
   * @param read reads the rows, or has them read in a thread without connections
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
      // The history is read first, since the snapshot may go on while the rows are read.
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

  /** Figures of groups. They cost one round trip when the columns are in memory. */
  figures(
    head: TableHead,
    query: AggregateQuery,
    caller?: ReadingCaller,
  ): Promise<Answered<Figures>> {
    return this.#ask(head, aggregateQuestion(query), caller);
  }

  /** Forgets a table that is gone, or that this company never had. */
  invalidate(table: TableName): void {
    const { companyId, tableId } = table;
    const live = this.#tables.get(tableId);
    if (live?.table.companyId === companyId) live.memory.drop("useless");
    else new TableSpill(this.#spills, table).forget();
  }

  /** Columns that have caught up need no further statement. */
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
    // The same table may have another key in another history.
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
