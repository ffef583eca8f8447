import { databaseErrorToAppError, newUuid } from "@workflow/db";
import type { Reason } from "@workflow/errors";
import type { DeadLetterOptions } from "./dead-letter-options.ts";
import { countFailure, deleteFailures, keepLetter } from "./dead-letter-queries.ts";
import type { ConsumerName, DeadLetters, Message } from "./event-bus.ts";
import { tendLetters } from "./tend-letters.ts";

const TRIES = 20;
const LOOK_EVERY_MS = 5_000;
const ERROR_CHARS_MAX = 500;
/** What a later try may get past though neither the event nor the code has changed. */
const REASONS_OF_SURROUNDINGS: readonly Reason[] = [
  "UNAVAILABLE",
  "UPSTREAM_ERROR",
  "RATE_LIMITED",
  "EXECUTION_TIMEOUT",
];

/** Keeps dead letters in a table of the consumer's own schema, see the README. */
export function createDeadLetters(options: DeadLetterOptions): DeadLetters {
  const { database, schema, logger, tries = TRIES, lookEveryMs = LOOK_EVERY_MS } = options;

  /** Counted before: a letter is a row of failures that has come to its end. */
  const keep = async (name: ConsumerName, message: Message, error: string): Promise<void> => {
    const { eventId, type, companyId, body } = message;
    const letter = await keepLetter(database, { schema, ...name, eventId }, body);
    if (letter === null) throw new Error("The failures of the event have been deleted meanwhile.");
    const { hasBody } = letter;
    logger.error(
      { ...name, eventId, type, companyId, error, bytes: body.bytes.byteLength, hasBody },
      "an event is kept as a dead letter and does not come again",
    );
  };
  const count = (name: ConsumerName, message: Message, error: string): Promise<number> => {
    const { eventId, type, companyId } = message;
    const failure = { id: newUuid(), type, companyId, error };
    return countFailure(database, { schema, ...name, eventId }, failure);
  };

  return {
    async countFailure(name, message, cause) {
      const error = describeFailure(cause);
      if (error === null || (await count(name, message, error)) < tries) return false;
      await keep(name, message, error);
      return true;
    },
    async keep(name, message, error) {
      await count(name, message, error);
      await keep(name, message, error);
    },
    async forget(name, eventId) {
      try {
        await deleteFailures(database, { schema, ...name, eventId });
      } catch (err) {
        // It goes with the old ones.
        logger.debug({ ...name, eventId, err }, "the failures of an event could not be forgotten");
      }
    },
    tend: (subscription, signal) =>
      tendLetters({ ...options, lookEveryMs }, subscription, describeFailure, signal),
  };
}

/**
 * A short text without values of the event: of our own errors what is meant for logs, of the database's
 * the code. Null when the failure is one of the surroundings.
 */
function describeFailure(cause: unknown): string | null {
  const { reason, internal, message } = databaseErrorToAppError(cause);
  if (REASONS_OF_SURROUNDINGS.includes(reason)) return null;
  // Postgres takes neither NUL characters nor halves of a character.
  const text = `${reason}: ${internal ?? message}`.replaceAll("\0", "").slice(0, ERROR_CHARS_MAX);
  return text.toWellFormed();
}
