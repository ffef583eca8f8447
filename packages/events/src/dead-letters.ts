import { databaseErrorToAppError, newUuid } from "@workflow/db";
import type { Reason } from "@workflow/errors";
import type { DeadLetterOptions } from "./dead-letter-options.ts";
import { countFailure, deleteFailures, keepLetter } from "./dead-letter-queries.ts";
import type { ConsumerName, DeadLetters, Message } from "./event-bus.ts";
import { tendLetters } from "./tend-letters.ts";

const TRIES = 20;
const POLL_EVERY_MS = 5_000;
const ERROR_CHARS_MAX = 500;
/** Reasons for which a later try may succeed though neither the event nor the code has changed. */
const TRANSIENT_REASONS: readonly Reason[] = [
  "UNAVAILABLE",
  "UPSTREAM_ERROR",
  "RATE_LIMITED",
  "EXECUTION_TIMEOUT",
];

/** Keeps dead letters in a table of the consumer's own schema, see the README. */
export function createDeadLetters(options: DeadLetterOptions): DeadLetters {
  const { database, schema, logger, tries = TRIES, pollEveryMs = POLL_EVERY_MS } = options;

  /** The failure is counted first: a letter is a row of failures that has reached its limit. */
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
        // It is deleted with the old ones.
        logger.debug({ ...name, eventId, err }, "the failures of an event could not be forgotten");
      }
    },
    tend: (subscription, signal) =>
      tendLetters({ ...options, pollEveryMs }, subscription, describeFailure, signal),
  };
}

/**
 * A short text without values of the event: the internal text of our own errors, the code of the
 * database's. Null when the failure is transient.
 */
function describeFailure(cause: unknown): string | null {
  const { reason, internal, message } = databaseErrorToAppError(cause);
  if (TRANSIENT_REASONS.includes(reason)) return null;
  // Postgres takes neither NUL characters nor halves of a character.
  const text = `${reason}: ${internal ?? message}`.replaceAll("\0", "").slice(0, ERROR_CHARS_MAX);
  return text.toWellFormed();
}
