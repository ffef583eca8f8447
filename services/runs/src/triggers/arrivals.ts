import { answerTogether, Batcher } from "@workflow/async";
import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import { insertArrived } from "../store/event-inbox.ts";
import type { ArrivedEvent } from "../store/event-inbox.ts";

const BATCH_MAX = 256;
const BATCH_CHARS_MAX = 8 * 1024 * 1024;

/**
 * Puts events into the inbox. Events that arrive while earlier ones are being stored share a statement.
 * The bus delivers all companies' events in one line, so each must cost next to nothing.
 */
export class Arrivals {
  readonly #events: Batcher<ArrivedEvent, void>;

  constructor(database: Database, onStored: () => void) {
    this.#events = new Batcher<ArrivedEvent, void>({
      itemsMax: BATCH_MAX,
      sizeMax: BATCH_CHARS_MAX,
      sizeOf: ({ event }) => event.length,
      batchesMax: 1,
      handle: answerTogether(async (events) => {
        await insertArrived(database, events);
        onStored();
        return events.map(() => undefined);
      }),
      // An event that the database refuses holds up none of the others.
      isOfOneItem: (error) => databaseErrorToAppError(error).reason !== "UNAVAILABLE",
    });
  }

  /** Resolves when the event is stored, or when no workflow waits for it. */
  put(event: ArrivedEvent): Promise<void> {
    return this.#events.ask(event);
  }
}
