import type { Reading } from "@workflow/db";
import type { ReadingDatabase } from "../store/reading-database.ts";
import { LongMatches } from "./long-matches.ts";
import type { Steps } from "../engine/index.ts";
import type { LiveTable } from "./live-table.ts";
import type { OnCacheEvent, Try } from "../memory/cache-events.ts";
import type { Question } from "./question.ts";
import type { Slices } from "../memory/slices.ts";
import type { SeenSnapshot, Snapshot } from "./snapshot.ts";

/**
 * The outcome of a try: the answer, or the reason for the next try. "again" asks for a surer try, "whole values"
 * for the one that reads whole values, "other head" for a newer head of the table.
 */
export type Outcome<Answer> = { answer: Answer } | "again" | "whole values" | "other head";

/** A question, and the function that makes its answer of a plan. */
export interface Asked<Plan, Answer> {
  readonly question: Question<Plan>;
  /**
   * Returns "again" when the answer would mix two states of the table.
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

/** The means by which questions are answered. */
export interface AnswerResources {
  /** Gives connections from the share of the table's company, for this question. */
  readonly database: ReadingDatabase;
  readonly slices: Slices;
  readonly onEvent: OnCacheEvent;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Answers a question by up to three tries, each surer and more costly than the one before. The first uses the
 * columns as they are and holds when nothing was written since. The second brings the columns up to date and holds
 * when later writes do not matter. The third uses a transaction that sees one revision. Null means that the
 * caller's head of the table is out of date.
 * @throws AppError NOT_FOUND when the table is gone; the signal's reason when that is aborted first
 */
export async function answerBy<Plan, Answer>(
  live: LiveTable,
  asked: Asked<Plan, Answer>,
  resources: AnswerResources,
): Promise<{ answer: Answer } | null> {
  const { onEvent } = resources;
  const tries: Readonly<Record<Try, () => Promise<Outcome<Answer>>>> = {
    as_is: () => fromMemory(live, asked, resources, false),
    caught_up: () => fromMemory(live, asked, resources, true),
    frozen: () => frozen(live, asked, resources),
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
  { question, finish }: Asked<Plan, Answer>,
  { database, slices, signal }: AnswerResources,
  isCurrent: boolean,
): Promise<Outcome<Answer>> {
  await live.ensure(question.vectors, signal);
  if (needsWholeValues(question, live.seen?.snapshot)) return "whole values";
  if (isCurrent) await live.catchUp(question.vectors, signal);
  // The check waits for no turn, so questions that waited for the same scan share the next catch-up.
  if (live.seen?.snapshot.isCurrent(question.vectors) !== true) return "again";
  const { companyId } = live.table;
  const owner = { companyId, isFrozen: false, signal };
  const { steps, isAsBefore } = planFrom(live, question);
  const planned = (await slices.run(owner, steps, isAsBefore))?.answer ?? "again";
  if (typeof planned !== "object") return planned;
  return finish(database, planned.plan, planned.seen, isCurrent);
}

/**
 * Works a plan out from memory. The first step, which may come later, decides which columns count. The result is
 * "again" when the columns have different revisions then.
 */
function planFrom<Plan>(
  live: LiveTable,
  question: Question<Plan>,
): {
  steps: Steps<{ plan: Plan; seen: SeenSnapshot } | "again" | "whole values">;
  /** Whether nothing has changed since the first step. */
  isAsBefore: () => boolean;
} {
  let isAsBefore = (): boolean => true;
  function* steps(): Steps<{ plan: Plan; seen: SeenSnapshot } | "again" | "whole values"> {
    const { seen } = live;
    if (seen === null || !seen.snapshot.isCurrent(question.vectors)) return "again";
    if (needsWholeValues(question, seen.snapshot)) return "whole values";
    isAsBefore = watchChanges(question, seen.snapshot);
    return { plan: yield* question.answer(seen.snapshot), seen };
  }
  return { steps: steps(), isAsBefore: () => isAsBefore() };
}

/** Tells whether the rows of a snapshot, and the columns of a question, are still what they are now. */
function watchChanges({ vectors }: Question<unknown>, snapshot: Snapshot): () => boolean {
  const { changes } = snapshot;
  return () => snapshot.changes === changes && vectors.every((name) => snapshot.has(name));
}

async function frozen<Plan, Answer>(
  live: LiveTable,
  { question, finish }: Asked<Plan, Answer>,
  { database, slices, signal }: AnswerResources,
): Promise<Outcome<Answer>> {
  const { vectors, tests } = question;
  const { companyId, tableKey } = live.table;
  const known = live.seen?.snapshot;
  const early = known === undefined ? null : new LongMatches(tests, known);
  let matches = early;
  const work = async (transaction: Reading, seen: SeenSnapshot): Promise<Outcome<Answer>> => {
    if (matches === null || seen.snapshot !== known) {
      matches = new LongMatches(tests, seen.snapshot);
    }
    await matches.read(transaction, tableKey);
    const owner = { companyId, isFrozen: true, signal };
    const steps = question.answer(matches.source());
    const plan = await slices.run(owner, steps, watchChanges(question, seen.snapshot));
    if (plan === null) throw new Error("A snapshot has changed out of its turn.");
    return finish(transaction, plan.answer, seen, true);
  };
  try {
    // Most values are read before the turn, so that others need not wait for them.
    await early?.read(database, tableKey);
    return await live.frozen(vectors, work, signal);
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
