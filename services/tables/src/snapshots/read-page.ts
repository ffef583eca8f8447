import type { Reading } from "@workflow/db";
import { findRowsAt } from "../store/rows-read.ts";
import type { SeenRows } from "../store/rows-read.ts";
import type { RowRecord } from "../store/rows-record.ts";
import { isSameHead, tableNotFound } from "../store/states.ts";
import type { TableHead } from "../store/states.ts";
import type { Outcome } from "./answer.ts";
import type { PagePlan } from "./question.ts";

/** A page of rows, and the number of rows on all pages. */
export interface RowPage {
  rows: readonly RowRecord[];
  total: number;
}

/** The rows of a page according to memory. */
export interface PlannedPage {
  readonly head: TableHead;
  readonly plan: PagePlan;
  /** The history of the database at the time when the columns were read. */
  readonly history: string;
  /** Whether the columns were no older than the question. */
  readonly isCurrent: boolean;
}

/** Reads the rows of a page, or reports that the rows have changed. */
export type ReadPage = (database: Reading, page: PlannedPage) => Promise<Outcome<RowPage>>;

/**
 * Reads a page whose rows are still those of the plan's revision. That holds when nothing was written since, or
 * when none of these rows has changed and the columns were current when the request came.
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
