import type { Database } from "@workflow/db";
import { databaseErrorToAppError } from "@workflow/db";
import { insertMessages } from "../../store/insert-inbound-events.ts";
import type { NewMessage } from "../../store/insert-inbound-events.ts";
import { LEASE_SECONDS } from "./lease.ts";
import { TurnBatches } from "./turn-batches.ts";

const MESSAGES_MAX = 100;
const BYTES_MAX = 4 * 1024 * 1024;
/** Two, so that one travels to the database while the other is written there. */
const STATEMENTS_MAX = 2;

interface Waiting {
  message: NewMessage;
  resolve: (isNew: boolean) => void;
  reject: (error: unknown) => void;
}

/** Stores messages. Messages that arrive together share a statement. */
export class MessageStore {
  readonly #database: Database;
  readonly #batches: TurnBatches<Waiting>;

  constructor(database: Database) {
    this.#database = database;
    this.#batches = new TurnBatches<Waiting>({
      itemsMax: MESSAGES_MAX,
      bytesMax: BYTES_MAX,
      lanesMax: STATEMENTS_MAX,
      bytesOf: ({ message }) => bytesOf(message),
      work: (batch) => this.#insert(batch),
    });
  }

  /**
   * Stores a message, unless its key is taken, and returns whether it did.
   *
   * @throws AppError UNAVAILABLE when the database is away
   */
  add(message: NewMessage): Promise<boolean> {
    const { companyId, provider } = message.events[0];
    return new Promise((resolve, reject) => {
      this.#batches.add(companyId ?? provider, { message, resolve, reject });
    });
  }

  drain(): Promise<void> {
    return this.#batches.drain();
  }

  async #insert(batch: readonly Waiting[]): Promise<void> {
    try {
      const messages = batch.map(({ message }) => message);
      const stored = await insertMessages(this.#database, messages, LEASE_SECONDS);
      for (const { message, resolve } of batch) resolve(stored.has(message.events[0].id));
    } catch (thrown) {
      const error = databaseErrorToAppError(thrown);
      if (batch.length === 1 || error.reason === "UNAVAILABLE") {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One message may be the cause.
      for (const waiting of batch) await this.#insert([waiting]);
    }
  }
}

function bytesOf({ events }: NewMessage): number {
  return events.reduce(
    (sum, { payloadJson, triggerJson }) => sum + payloadJson.length + triggerJson.length,
    0,
  );
}
