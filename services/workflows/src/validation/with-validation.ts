import { AppError } from "@workflow/errors";
import { invalidDefinition } from "../domain/content.ts";
import type { TriggerName } from "../domain/content.ts";
import type { DefinitionChecker, DefinitionQuestion } from "./definition-checker.ts";

/**
 * Refuses a wrong definition that only a transaction knows; see `withValidation`.
 *
 * @param triggerName the trigger's field in the request
 * @throws AppError VALIDATION_ERROR with one violation for each problem
 */
export type RequireKnown = (question: DefinitionQuestion, triggerName?: TriggerName) => void;

/** The number of attempts when a workflow changes between its validation and its write. */
const ATTEMPTS_MAX = 5;

/**
 * Runs an action that validates within a transaction. Validation waits for other processes, which
 * no transaction should do. A definition without cached findings therefore ends the action, is
 * validated, and the action runs again.
 *
 * @throws AppError CONFLICT when the definition is another one each time
 */
export async function withValidation<T>(
  checker: DefinitionChecker,
  action: (requireKnown: RequireKnown) => Promise<T>,
): Promise<T> {
  const requireKnown: RequireKnown = (question, triggerName = "trigger") => {
    const violations = checker.recall(question);
    if (violations === undefined) throw new NotValidated(question);
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
      if (!(error instanceof NotValidated)) throw error;
      await checker.check(error.question);
    }
  }
  throw new AppError("CONFLICT", "The workflow keeps changing. Try again.");
}

/** Thrown out of a transaction to have a definition validated outside of it. */
class NotValidated extends Error {
  override readonly name = "NotValidated";
  readonly question: DefinitionQuestion;

  constructor(question: DefinitionQuestion) {
    super("a definition has not been validated yet");
    this.question = question;
  }
}
