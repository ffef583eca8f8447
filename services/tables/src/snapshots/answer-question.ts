import type { Queryable } from "@workflow/db";
import type { TableKey } from "../store/states.ts";
import type { LiveTable } from "./live-table.ts";
import { clausesOnWholeValues, LongMatches } from "./long-matches.ts";
import type { Question } from "./question.ts";

/** How often values are read again that have changed while they were read. */
const READS_MAX = 5;

/**
 * Answers a question from the columns in memory, which are read first when they are not there. Long
 * values, of which memory holds only the beginning, are read as far as the question needs them; null
 * when they keep changing meanwhile.
 */
export async function answerQuestion<Answer>(
  database: Queryable,
  live: LiveTable,
  { tableKey }: TableKey,
  question: Question<Answer>,
): Promise<Answer | null> {
  const clauses = clausesOnWholeValues(question.filter);
  if (clauses.length === 0) return question.answer(await live.withVectors(question.vectors));
  const matches = new LongMatches(clauses);
  for (let reads = 0; reads < READS_MAX; reads++) {
    const snapshot = await live.withVectors(question.vectors);
    const source = matches.sourceOf(snapshot);
    if (source !== null) return question.answer(source);
    const isCurrent = await matches.read(database, tableKey, snapshot);
    if (!isCurrent) await live.refresh();
  }
  return null;
}
