import type { Reading } from "@workflow/db";
import { findRowsAt } from "../store/rows-read.ts";
import type { SeenRows } from "../store/rows-read.ts";
import type { RowRecord } from "../store/rows-record.ts";
import { isSameHead, tableNotFound } from "../store/states.ts";
import type { TableHead } from "../store/states.ts";
import type { Outcome } from "./answer.ts";
import type { PagePlan } from "./question.ts";

/** A page of rows, and how many there are on all pages. */
export interface RowPage {
  rows: readonly RowRecord[];
  total: number;
}

/** Which rows make up a page, by what memory says. */
export interface PlannedPage {
  readonly head: TableHead;
  readonly plan: PagePlan;
  /** Of the database, when the columns were read. */
  readonly history: string;
  /** Whether the columns were no older than the question. */
  readonly isCurrent: boolean;
}

/** Reads the rows of a page, or tells that they are not what they were. */
export type ReadPage = (database: Reading, page: PlannedPage) => Promise<Outcome<RowPage>>;

/**
 * The page, when the rows are still what they were at the plan's revision. That they are when nothing
 * was written since, and, whatever else was written, when none of them has changed; columns that were
 * current when the request came are as good as the newest ones then.
 */
export async function readPage(
  database: Reading,
  { head, plan, history, isCurrent }: PlannedPage,
): Promise<Outcome<RowPage>> {
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
