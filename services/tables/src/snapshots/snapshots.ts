import type { Database, Queryable } from "@workflow/db";
import { AppError, isAppError } from "@workflow/errors";
import { cacheMetrics } from "@workflow/service";
import type { CacheMetrics } from "@workflow/service";
import type { Registry } from "prom-client";
import type { Column } from "../domain/column.ts";
import type { RowQuery } from "../domain/row-query.ts";
import { findRowsAt, findRowsFrom } from "../store/rows-read.ts";
import type { SeenRows } from "../store/rows-read.ts";
import type { RowRecord } from "../store/rows-record.ts";
import { holdState, tableNotFound } from "../store/states.ts";
import type { TableHead, TableName } from "../store/states.ts";
import { answerQuestion } from "./answer-question.ts";
import { LiveTable } from "./live-table.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { pageQuestion } from "./question.ts";
import type { PagePlan, Question } from "./question.ts";
import type { TableHeads } from "./table-heads.ts";

/** A page of rows, and how many there are on all pages. */
export interface RowPage {
  rows: readonly RowRecord[];
  total: number;
}

/** Makes of a table's columns what is asked of it; throws what is wrong with the request. */
export type Ask<Asked> = (columns: readonly Column[]) => Asked;

export interface SnapshotsOptions {
  database: Database;
  heads: TableHeads;
  /** Memory for columns; what a single query needs may be more. */
  cacheBytesMax: number;
  metricsRegistry?: Registry | undefined;
}

/** One try to answer a question while others may write. */
interface Attempt<Asked> {
  database: Queryable;
  live: LiveTable;
  head: TableHead;
  question: Question<Asked>;
  /** Whether the snapshot is no older than the request. */
  isCurrent: boolean;
}

/** How often a query is tried while others write, before writers have to wait for it. */
const ROUNDS_BESIDE_WRITERS = 3;
/** After that only changes of the table's columns can come in between. */
const ROUNDS_MAX = 10;

/**
 * Answers questions about tables from columns in memory. Each answer is that of one revision of the
 * table, and of none that was replaced before the question came: what any process has committed by
 * then is seen. All methods throw NOT_FOUND when the company has no such table.
 */
export class Snapshots {
  readonly #database: Database;
  readonly #heads: TableHeads;
  readonly #budget: MemoryBudget;
  readonly #tables = new Map<string, LiveTable>();
  readonly #metrics: CacheMetrics;
  #lastHold: Promise<unknown> = Promise.resolve();

  constructor({ database, heads, cacheBytesMax, metricsRegistry }: SnapshotsOptions) {
    this.#database = database;
    this.#heads = heads;
    this.#budget = new MemoryBudget(cacheBytesMax);
    this.#metrics = cacheMetrics(metricsRegistry, "table_columns", () => ({
      entries: this.#tables.size,
      bytes: this.bytes,
    }));
  }

  /** Estimate of the memory in use. */
  get bytes(): number {
    return this.#budget.bytes;
  }

  /** A page of all rows in the table's own order. */
  async listRows(table: TableName, limit: number, offset: number): Promise<RowPage> {
    // Where no row was ever deleted, the row at an offset is the one at that position.
    const known = this.#tables.get(table.tableId)?.snapshot ?? null;
    if (offset === 0 || known === null || known.isDense) {
      const seen = await findRowsFrom(this.#database, table, offset, limit);
      if (seen === null) return this.#forget(table);
      const { rowCount: total, nextPosition } = seen.table;
      if (offset === 0 || total === nextPosition) return { rows: seen.rows, total };
      if (offset >= total) return { rows: [], total };
    }
    return this.queryRows(table, () => ({ filter: [], sort: null, limit, offset }));
  }

  /**
   * A page of the rows that a query selects. It costs one round trip to the database when the columns
   * are in memory and nothing was written since the query before.
   */
  queryRows(table: TableName, ask: Ask<RowQuery>): Promise<RowPage> {
    return this.#settle(
      table,
      (columns) => pageQuestion(ask(columns)),
      async ({ database, live, head, question, isCurrent }) => {
        const plan = await answerQuestion(database, live, head, question);
        if (plan === null) return null;
        const seen = await findRowsAt(database, head, plan.positions);
        if (seen === null) throw tableNotFound();
        if (seen.table.schemaRevision !== head.schemaRevision) return null;
        return pageOf(plan, seen, isCurrent);
      },
    );
  }

  /** The answer to a question. It costs one round trip when the columns are in memory. */
  async ask<Answer>(table: TableName, ask: Ask<Question<Answer>>): Promise<Answer> {
    const result = await this.#settle(
      table,
      ask,
      async ({ database, live, head, question, isCurrent }) => {
        if (!isCurrent) {
          await live.withVectors(question.vectors);
          await live.refresh();
        }
        if (live.schemaRevision !== head.schemaRevision) return null;
        const answer = await answerQuestion(database, live, head, question);
        return answer === null ? null : { answer };
      },
    );
    return result.answer;
  }

  /** Tries until a try gives something other than null. */
  async #settle<Asked, Result>(
    table: TableName,
    ask: Ask<Question<Asked>>,
    attempt: (attempt: Attempt<Asked>) => Promise<Result | null>,
  ): Promise<Result> {
    let isCurrent = false;
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const { head, question } = await this.#understand(table, ask);
      const live = this.#liveTable(head);
      const stopUsing = live.use(question.vectors);
      try {
        const given = { database: this.#database, live, head, question, isCurrent };
        const isHeld = round >= ROUNDS_BESIDE_WRITERS;
        const trying = isHeld ? this.#attemptHeld(given, attempt) : attempt(given);
        const result = await this.#orForget(table, trying);
        if (result !== null) return result;
        await this.#orForget(table, live.refresh());
        isCurrent = true;
        if (live.schemaRevision !== head.schemaRevision) await this.#heads.reload(table);
      } finally {
        stopUsing();
      }
    }
    throw new AppError("UNAVAILABLE", "The table keeps being changed; try again.", {
      retryAfterMs: 1_000,
    });
  }

  /** What is asked; a fault is believed only when the table's head is current. */
  async #understand<Asked>(
    table: TableName,
    ask: Ask<Asked>,
  ): Promise<{ head: TableHead; question: Asked }> {
    const known = await this.#orForget(table, this.#heads.get(table));
    try {
      return { head: known, question: ask(known.columns) };
    } catch (error) {
      const head = await this.#orForget(table, this.#heads.reload(table));
      if (head.schemaRevision === known.schemaRevision) throw error;
      return { head, question: ask(head.columns) };
    }
  }

  /** An attempt during which nobody writes to the table. One at a time, as it needs two connections. */
  #attemptHeld<Asked, Result>(
    given: Attempt<Asked>,
    attempt: (attempt: Attempt<Asked>) => Promise<Result | null>,
  ): Promise<Result | null> {
    const { live, head, question } = given;
    const hold = this.#lastHold.then(async () => {
      await live.withVectors(question.vectors);
      return this.#database.transaction(async (transaction) => {
        await holdState(transaction, head);
        await live.refreshWithin(transaction);
        return attempt({ ...given, database: transaction, isCurrent: true });
      });
    });
    this.#lastHold = hold.catch(() => {});
    return hold;
  }

  #liveTable(head: TableHead): LiveTable {
    const { tableId } = head;
    const known = this.#tables.get(tableId);
    if (known !== undefined) {
      this.#metrics.hit();
      return known;
    }
    this.#metrics.miss();
    const live = new LiveTable({
      database: this.#database,
      budget: this.#budget,
      head,
      onDropped: () => {
        if (this.#tables.get(tableId) === live) this.#tables.delete(tableId);
      },
    });
    this.#tables.set(tableId, live);
    return live;
  }

  async #orForget<Result>(table: TableName, result: Promise<Result>): Promise<Result> {
    try {
      return await result;
    } catch (error) {
      if (isAppError(error) && error.reason === "NOT_FOUND") this.#forget(table);
      throw error;
    }
  }

  /** The table is gone, or was never there for this company. */
  #forget(table: TableName): never {
    const live = this.#tables.get(table.tableId);
    if (live?.companyId === table.companyId) {
      live.drop();
      this.#heads.forget(table);
    }
    throw tableNotFound();
  }
}

/**
 * The page, when the rows are still what they were at the plan's revision. That they are when nothing
 * was written since, and, whatever else was written, when none of them has changed; a snapshot that was
 * current when the request came is as good as the newest one then.
 */
function pageOf(plan: PagePlan, { table, rows }: SeenRows, isCurrent: boolean): RowPage | null {
  const { revision, positions, total } = plan;
  if (table.revision !== revision && !isCurrent) return null;
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  const page: RowRecord[] = [];
  for (const position of positions) {
    const row = byPosition.get(position);
    if (row === undefined || row.revision > revision) return null;
    page.push(row);
  }
  return { rows: page, total };
}
