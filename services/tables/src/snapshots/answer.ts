import type { Reading } from "@workflow/db";
import { LongMatches } from "./long-matches.ts";
import type { LiveTable, SeenSnapshot } from "./live-table.ts";
import type { OnCacheEvent, Try } from "./cache-events.ts";
import type { Question } from "./question.ts";
import { inSlices } from "./slices.ts";
import type { Snapshot } from "./snapshot.ts";
import type { TableSource } from "./table-source.ts";

/**
 * What a try has come to: the answer, or that a surer try is needed, the one that reads whole values, or a
 * newer head of the table.
 */
export type Outcome<Answer> = { answer: Answer } | "again" | "whole values" | "other head";

/** A question, and what makes an answer of what the columns say. */
export interface Asked<Plan, Answer> {
  readonly question: Question<Plan>;
  /**
   * "again" when it would mix two states of the table.
   *
   * @param isCurrent whether the columns were no older than the question
   */
  readonly finish: (
    database: Reading,
    plan: Plan,
    seen: SeenSnapshot,
    isCurrent: boolean,
  ) => Promise<Outcome<Answer>>;
  /** Whether `finish` notices columns that are out of date. */
  readonly noticesOldColumns: boolean;
}

/**
 * Answers a question by tries, each surer and dearer than the one before: from the columns as they are,
 * when nothing was written since; from columns that have caught up, when what was written since then does
 * not matter; in a transaction that sees one revision. Null when the caller's head of the table is not
 * the one that the answer would be about.
 *
 * @throws AppError NOT_FOUND when the table is gone
 */
export async function answerBy<Plan, Answer>(
  live: LiveTable,
  database: Reading,
  asked: Asked<Plan, Answer>,
  onEvent: OnCacheEvent,
): Promise<{ answer: Answer } | null> {
  const tries: Readonly<Record<Try, () => Promise<Outcome<Answer>>>> = {
    as_is: () => fromMemory(live, database, asked, false),
    caught_up: () => fromMemory(live, database, asked, true),
    frozen: () => frozen(live, asked, database),
  };
  const kinds: Try[] = ["caught_up", "frozen"];
  if (asked.noticesOldColumns) kinds.unshift("as_is");
  const stopUsing = live.memory.use(asked.question.vectors);
  try {
    let needsWhole = false;
    for (const kind of kinds) {
      if (needsWhole && kind !== "frozen") continue;
      const outcome = await tries[kind]();
      if (typeof outcome === "object") {
        onEvent(`${kind} answer`);
        return outcome;
      }
      onEvent(`${kind} none`);
      if (outcome === "other head") return null;
      needsWhole ||= outcome === "whole values";
    }
  } finally {
    stopUsing();
  }
  throw new Error("A transaction that sees one revision of a table has not answered a question.");
}

async function fromMemory<Plan, Answer>(
  live: LiveTable,
  database: Reading,
  { question, finish }: Asked<Plan, Answer>,
  isCurrent: boolean,
): Promise<Outcome<Answer>> {
  await live.ensure(question.vectors);
  if (needsWholeValues(question, live.seen?.snapshot)) return "whole values";
  if (isCurrent) await live.catchUp(question.vectors);
  const { seen } = live;
  if (seen === null || !seen.snapshot.isCurrent(question.vectors)) return "again";
  if (needsWholeValues(question, seen.snapshot)) return "whole values";
  const plan = await workOut(question, seen.snapshot, seen.snapshot);
  return plan === null ? "again" : finish(database, plan.answer, seen, isCurrent);
}

/** Null when the snapshot has changed between two slices of the work. */
async function workOut<Plan>(
  question: Question<Plan>,
  snapshot: Snapshot,
  source: TableSource,
): Promise<{ answer: Plan } | null> {
  const { changes } = snapshot;
  const isAsBefore = (): boolean =>
    snapshot.changes === changes && question.vectors.every((name) => snapshot.has(name));
  return inSlices(question.answer(source), isAsBefore);
}

async function frozen<Plan, Answer>(
  live: LiveTable,
  { question, finish }: Asked<Plan, Answer>,
  database: Reading,
): Promise<Outcome<Answer>> {
  const { vectors, tests } = question;
  const { tableKey } = live.table;
  const known = live.seen?.snapshot;
  const early = known === undefined ? null : new LongMatches(tests, known);
  let matches = early;
  try {
    // Most of it before the turn, so that others need not wait for it.
    await early?.read(database, tableKey);
    return await live.frozen(vectors, async (transaction, seen) => {
      if (matches === null || seen.snapshot !== known)
        matches = new LongMatches(tests, seen.snapshot);
      await matches.read(transaction, tableKey);
      const plan = await workOut(question, seen.snapshot, matches.source());
      if (plan === null) throw new Error("A snapshot has changed out of its turn.");
      return finish(transaction, plan.answer, seen, true);
    });
  } finally {
    early?.stop();
    if (matches !== early) matches?.stop();
  }
}

/** Whether memory holds only the beginning of a value that matters. */
function needsWholeValues({ tests }: Question<unknown>, snapshot: Snapshot | undefined): boolean {
  return tests.some(
    ({ name, rowsOf }) =>
      snapshot?.has(name) === true && rowsOf(snapshot.vector(name.key, name.type)).length > 0,
  );
}
