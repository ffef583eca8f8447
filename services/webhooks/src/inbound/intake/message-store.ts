import { answerTogether, Batcher } from "@workflow/async";
import type { Database } from "@workflow/db";
import { databaseErrorToAppError } from "@workflow/db";
import { insertMessages } from "../../store/insert-inbound-events.ts";
import type { NewMessage } from "../../store/insert-inbound-events.ts";
import { LEASE_SECONDS } from "./lease.ts";

const MESSAGES_MAX = 100;
const BYTES_MAX = 4 * 1024 * 1024;
/** Two concurrent statements, so that one travels to the database while the other is executed. */
const STATEMENTS_MAX = 2;

/** Stores messages. Messages that arrive together share a statement. */
export class MessageStore {
  readonly #messages: Batcher<NewMessage, boolean>;

  constructor(database: Database) {
    this.#messages = new Batcher<NewMessage, boolean>({
      itemsMax: MESSAGES_MAX,
      sizeMax: BYTES_MAX,
      sizeOf: bytesOf,
      tenantOf: ({ events: [{ companyId, provider }] }) => companyId ?? provider,
      batchesMax: STATEMENTS_MAX,
      handle: answerTogether(async (messages) => {
        const stored = await insertMessages(database, messages, LEASE_SECONDS);
        return messages.map(({ events }) => stored.has(events[0].id));
      }),
      // One message may be the cause.
      isOfOneItem: (error) => databaseErrorToAppError(error).reason !== "UNAVAILABLE",
    });
  }

  /**
   * Stores a message unless its key is taken. Returns whether it was stored.
   *
   * @throws AppError UNAVAILABLE when the database is unavailable
   */
  async add(message: NewMessage): Promise<boolean> {
    try {
      return await this.#messages.ask(message);
    } catch (error) {
      throw databaseErrorToAppError(error);
    }
  }

  /** Resolves when nothing waits and nothing runs. */
  drain(): Promise<void> {
    return this.#messages.whenIdle();
  }
}

function bytesOf({ events }: NewMessage): number {
  return events.reduce(
    (sum, { payloadJson, triggerJson }) => sum + payloadJson.length + triggerJson.length,
    0,
  );
}
