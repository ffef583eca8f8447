import { AppError } from "@workflow/errors";
import { invalidDefinition } from "../domain/content.ts";
import type { TriggerName } from "../domain/content.ts";
import type { DefinitionChecker, DefinitionQuestion } from "./definition-checker.ts";

/**
 * @param triggerName what the trigger is called in the request
 * @throws AppError VALIDATION_ERROR, with one violation for each problem, unless the definition can
 * be stored: executed as it stands or, where it `mayBeUnfinished`, drawn on
 */
export async function requireValid(
  checker: DefinitionChecker,
  question: DefinitionQuestion,
): Promise<void> {
  const violations = await checker.check(question);
  if (violations.length > 0) throw invalidDefinition(violations);
}

/** As `requireValid`, for a definition that only a transaction knows; see `withValidation`. */
export type RequireKnown = (question: DefinitionQuestion, triggerName?: TriggerName) => void;

/** How often a workflow may change between being looked at and being written. */
const ATTEMPTS_MAX = 5;

/**
 * Runs an action that validates within a transaction. Validation waits for other processes, which no
 * transaction should: what has not been looked at yet ends the action, is looked at, and the action is
 * run again.
 *
 * @throws AppError CONFLICT when it meets something else each time
 */
export async function withValidation<T>(
  checker: DefinitionChecker,
  action: (requireKnown: RequireKnown) => Promise<T>,
): Promise<T> {
  const requireKnown: RequireKnown = (question, triggerName = "trigger") => {
    const violations = checker.recall(question);
    if (violations === undefined) throw new NotLookedAt(question);
    if (violations.length === 0) return;
    throw invalidDefinition(
      violations.map(({ path: [field = "", ...rest], message }) => ({
        path: [field === "trigger" ? triggerName : field, ...rest],
        message,
      })),
    );
  };
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    try {
      return await action(requireKnown);
    } catch (error) {
      if (!(error instanceof NotLookedAt)) throw error;
      await checker.check(error.question);
    }
  }
  throw new AppError("CONFLICT", "The workflow keeps changing. Try again.");
}

/** Thrown out of a transaction to have a definition looked at outside of it. */
class NotLookedAt extends Error {
  override readonly name = "NotLookedAt";
  readonly question: DefinitionQuestion;

  constructor(question: DefinitionQuestion) {
    super("a definition has not been validated yet");
    this.question = question;
  }
}
