import type { Queryable } from "@workflow/db";
import { cacheMetrics } from "@workflow/service";
import type { CacheMetrics } from "@workflow/service";
import type { Registry } from "prom-client";
import type { CompanyConnections } from "../company-connections.ts";
import type { RowQuery } from "../domain/row-query.ts";
import type {
  AggregateGroup,
  AggregateQuery,
  DistinctQuery,
  DistinctValues,
} from "../engine/index.ts";
import { findRowsAt, findRowsFrom } from "../store/rows-read.ts";
import type { SeenRows } from "../store/rows-read.ts";
import type { RowRecord } from "../store/rows-record.ts";
import { isSameHead, tableNotFound } from "../store/states.ts";
import type { TableHead, TableName } from "../store/states.ts";
import { answerBy } from "./answer.ts";
import type { Asked, Outcome } from "./answer.ts";
import { LiveTable } from "./live-table.ts";
import type { SeenSnapshot } from "./live-table.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { cacheEvents, showCache } from "./metrics.ts";
import type { CacheEvents } from "./metrics.ts";
import { aggregateQuestion, distinctQuestion, pageQuestion } from "./question.ts";
import type { PagePlan, Question } from "./question.ts";
import { TableMemory } from "./table-memory.ts";

/** A page of rows, and how many there are on all pages. */
export interface RowPage {
  rows: readonly RowRecord[];
  total: number;
}

/** An answer; null when the head is not the table's any more, so that the question may mean another one. */
export type Answered<Answer> = { answer: Answer } | null;

/** What a table reader needs. */
export interface TableReaderOptions {
  connections: CompanyConnections;
  /** Memory for columns; what a single query needs may be more. */
  cacheBytesMax: number;
  metricsRegistry?: Registry | undefined;
}

/**
 * Answers questions about tables from columns in memory. Each answer is that of one revision of the
 * table, and of none that was replaced before the question came: what any process has committed by then
 * is seen. All methods throw NOT_FOUND when the company has no such table.
 *
 * What goes in and comes out is plain data, that could be sent to another thread; columns and the reading
 * of the database that keeps them current never leave this class.
 */
export class TableReader {
  readonly #connections: CompanyConnections;
  readonly #budget: MemoryBudget;
  readonly #events: CacheEvents;
  readonly #metrics: CacheMetrics;
  readonly #tables = new Map<string, LiveTable>();

  constructor({ connections, cacheBytesMax, metricsRegistry }: TableReaderOptions) {
    this.#connections = connections;
    this.#events = cacheEvents(metricsRegistry);
    this.#budget = new MemoryBudget(cacheBytesMax, () => this.#events.evicted());
    const tables = this.#tables;
    const budget = this.#budget;
    this.#metrics = cacheMetrics(metricsRegistry, "table_columns", () => ({
      entries: tables.size,
      bytes: budget.bytes,
    }));
    showCache(metricsRegistry, {
      get bytes() {
        return budget.bytes;
      },
      memories: () => tables.values().map(({ memory }) => memory),
    });
  }

  /** Estimate of the memory in use. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /**
   * A page of all rows in the table's own order, when that can be told without columns in memory; else
   * null.
   */
  async listRows(table: TableName, limit: number, offset: number): Promise<RowPage | null> {
    // Where no row was ever deleted, the row at an offset is the one at that position.
    const known = this.#tables.get(table.tableId)?.seen ?? null;
    if (offset > 0 && known !== null && !known.snapshot.isDense) return null;
    const database = this.#connections.of(table.companyId);
    const seen = await findRowsFrom(database, table, offset, limit);
    if (seen === null) throw tableNotFound();
    const { rowCount: total, nextPosition } = seen.table;
    if (offset === 0 || total === nextPosition) return { rows: seen.rows, total };
    return offset >= total ? { rows: [], total } : null;
  }

  /**
   * A page of the rows that a query selects. It costs one round trip to the database when the columns
   * are in memory and nothing was written since the query before.
   */
  page(head: TableHead, query: RowQuery): Promise<Answered<RowPage>> {
    return this.#answer<PagePlan, RowPage>(head, {
      question: pageQuestion(query),
      noticesOldColumns: true,
      finish: (...given) => readPage(head, ...given),
    });
  }

  /** The different values of a column. It costs one round trip when the columns are in memory. */
  distinct(head: TableHead, query: DistinctQuery): Promise<Answered<DistinctValues>> {
    return this.#ask(head, distinctQuestion(query));
  }

  /** Figures. They cost one round trip when the columns are in memory. */
  figures(head: TableHead, query: AggregateQuery): Promise<Answered<AggregateGroup[]>> {
    return this.#ask(head, aggregateQuestion(query));
  }

  /** To be told that a table is gone, or was never there for this company. */
  forget({ companyId, tableId }: TableName): void {
    const live = this.#tables.get(tableId);
    if (live?.table.companyId === companyId) live.memory.drop();
  }

  /** Of columns that have caught up there is nothing more to be read. */
  #ask<Answer>(head: TableHead, question: Question<Answer>): Promise<Answered<Answer>> {
    return this.#answer<Answer, Answer>(head, {
      question,
      noticesOldColumns: false,
      finish: async (_database, answer, seen) =>
        isSameHead(seen.head, head) ? { answer } : "other head",
    });
  }

  #answer<Plan, Answer>(head: TableHead, asked: Asked<Plan, Answer>): Promise<Answered<Answer>> {
    const database = this.#connections.of(head.companyId);
    return answerBy(this.#liveTable(head, database), database, asked, this.#events);
  }

  #liveTable(head: TableHead, database: Queryable): LiveTable {
    const { tableId, tableKey, companyId } = head;
    const known = this.#tables.get(tableId);
    if (known?.table.tableKey === tableKey) {
      this.#metrics.hit();
      return known;
    }
    this.#metrics.miss();
    // In another history the table may have another key.
    known?.memory.drop();
    const memory = new TableMemory(this.#budget, companyId);
    const live = new LiveTable({ database, memory, head, events: this.#events });
    memory.onDropped(() => {
      if (this.#tables.get(tableId) === live) this.#tables.delete(tableId);
    });
    this.#tables.set(tableId, live);
    return live;
  }
}

/**
 * The page, when the rows are still what they were at the plan's revision. That they are when nothing
 * was written since, and, whatever else was written, when none of them has changed; columns that were
 * current when the request came are as good as the newest ones then.
 */
async function readPage(
  head: TableHead,
  database: Queryable,
  plan: PagePlan,
  { snapshot }: SeenSnapshot,
  isCurrent: boolean,
): Promise<Outcome<RowPage>> {
  // Asked first: the snapshot may go on while the rows are read.
  const { history } = snapshot;
  const seen = await findRowsAt(database, head, plan.positions);
  if (seen === null) throw tableNotFound();
  if (!isSameHead(seen.table, head)) return "other head";
  if (seen.table.history !== history || seen.table.revision < plan.revision) return "again";
  if (seen.table.revision !== plan.revision && !isCurrent) return "again";
  return pageOf(plan, seen);
}

function pageOf({ revision, positions, total }: PagePlan, { rows }: SeenRows): Outcome<RowPage> {
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  const page: RowRecord[] = [];
  for (const position of positions) {
    const row = byPosition.get(position);
    if (row === undefined || row.revision > revision) return "again";
    page.push(row);
  }
  return { answer: { rows: page, total } };
}
