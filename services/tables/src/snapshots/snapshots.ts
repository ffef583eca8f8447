import type { Queryable } from "@workflow/db";
import { AppError, isAppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import type { Column } from "../domain/column.ts";
import type { RowQuery } from "../domain/row-query.ts";
import type { AggregateQuery, DistinctQuery, DistinctValues } from "../engine/index.ts";
import type { CompanyConnections } from "../company-connections.ts";
import type { ReadingCaller } from "../store/reading-database.ts";
import { findRowsFrom } from "../store/rows-read.ts";
import { tableNotFound } from "../store/states.ts";
import type { TableHead, TableName } from "../store/states.ts";
import type { Figures } from "./figures.ts";
import type { TableHeads } from "./table-heads.ts";
import type { RowPage } from "./read-page.ts";
import type { Answered, Reader } from "./table-reader.ts";

/** Makes a query from a table's columns; an error says what is wrong with the request. */
export type Ask<Query> = (columns: readonly Column[]) => Query;

/** The resources for answers. */
export interface SnapshotsOptions {
  reader: Reader;
  heads: TableHeads;
  connections: CompanyConnections;
}

/** The number of tables that are remembered to have gaps. */
const TABLES_MAX = 10_000;
/** The number of heads with which one question is tried while the table's columns keep changing. */
const HEADS_MAX = 10;

/**
 * Answers questions of callers, who name columns by their ids. Each question is understood by the columns that the
 * table has at the time of the answer. All methods throw NOT_FOUND when the company has no such table, and the
 * reason of the caller's signal when the caller leaves first.
 */
export class Snapshots {
  readonly #reader: Reader;
  readonly #heads: TableHeads;
  readonly #connections: CompanyConnections;
  /** Tables with deleted rows, in which the row at an offset has another position. */
  readonly #withGaps = new LRUCache<string, true>({ max: TABLES_MAX });

  constructor({ reader, heads, connections }: SnapshotsOptions) {
    this.#reader = reader;
    this.#heads = heads;
    this.#connections = connections;
  }

  /** A page of all rows in the table's own order. */
  async listRows(
    table: TableName,
    { limit, offset }: { limit: number; offset: number },
    caller?: ReadingCaller,
  ): Promise<RowPage> {
    const found = this.#listByPosition(table, { limit, offset }, caller);
    const page = await this.#orInvalidate(table, found);
    const all = { filter: [], sort: null, limit, offset };
    return page ?? this.queryRows(table, () => all, caller);
  }

  /** A page of the rows that a query selects. */
  queryRows(table: TableName, ask: Ask<RowQuery>, caller?: ReadingCaller): Promise<RowPage> {
    return this.#retryUntilConsistent(table, ask, caller, (head, query) =>
      this.#reader.page(head, query, caller),
    );
  }

  /** The different values of a column. */
  listDistinct(
    table: TableName,
    ask: Ask<DistinctQuery>,
    caller?: ReadingCaller,
  ): Promise<DistinctValues> {
    return this.#retryUntilConsistent(table, ask, caller, (head, query) =>
      this.#reader.distinct(head, query, caller),
    );
  }

  /** Figures of groups. */
  aggregate(table: TableName, ask: Ask<AggregateQuery>, caller?: ReadingCaller): Promise<Figures> {
    return this.#retryUntilConsistent(table, ask, caller, (head, query) =>
      this.#reader.figures(head, query, caller),
    );
  }

  /** A page of all rows, when it needs no columns in memory; otherwise null. */
  async #listByPosition(
    table: TableName,
    { limit, offset }: { limit: number; offset: number },
    caller: ReadingCaller | undefined,
  ): Promise<RowPage | null> {
    if (offset > 0 && this.#withGaps.has(table.tableId)) return null;
    const database = this.#connections.of(table.companyId, caller);
    const seen = await findRowsFrom(database, table, offset, limit);
    if (seen === null) throw tableNotFound();
    const { rowCount: total, nextPosition } = seen.table;
    if (total !== nextPosition) this.#withGaps.set(table.tableId, true);
    if (offset === 0 || total === nextPosition) return { rows: seen.rows, total };
    return offset >= total ? { rows: [], total } : null;
  }

  /** Repeats a question until the head that it was understood by is the table's head. */
  async #retryUntilConsistent<Query, Answer>(
    table: TableName,
    ask: Ask<Query>,
    caller: ReadingCaller | undefined,
    answer: (head: TableHead, query: Query) => Promise<Answered<Answer>>,
  ): Promise<Answer> {
    const database = this.#connections.of(table.companyId, caller);
    let known = await this.#heads.get(table, caller);
    for (let heads = 0; heads < HEADS_MAX; heads++) {
      const { head, query } = await this.#resolve(table, ask, { head: known, database });
      const answered = await this.#orInvalidate(table, answer(head, query));
      if (answered !== null) return answered.answer;
      known = await this.#heads.reload(table, database);
    }
    throw new AppError("UNAVAILABLE", "The table's columns keep being changed; try again.", {
      retryAfterMs: 1_000,
    });
  }

  /** Understands a question. A fault counts only when the table's head is current. */
  async #resolve<Query>(
    table: TableName,
    ask: Ask<Query>,
    known: { head: TableHead; database: Queryable },
  ): Promise<{ head: TableHead; query: Query }> {
    try {
      return { head: known.head, query: ask(known.head.columns) };
    } catch (error) {
      const head = await this.#heads.reload(table, known.database);
      if (head === known.head) throw error;
      return { head, query: ask(head.columns) };
    }
  }

  async #orInvalidate<Result>(table: TableName, result: Promise<Result>): Promise<Result> {
    try {
      return await result;
    } catch (error) {
      if (isAppError(error) && error.reason === "NOT_FOUND") {
        this.#reader.invalidate(table);
        this.#heads.invalidate(table);
      }
      throw error;
    }
  }
}
