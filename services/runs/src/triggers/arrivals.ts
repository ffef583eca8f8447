import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import { insertArrived } from "../store/event-inbox.ts";
import type { ArrivedEvent } from "../store/event-inbox.ts";

interface Waiting {
  event: ArrivedEvent;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const BATCH_MAX = 256;
const BATCH_CHARS_MAX = 8 * 1024 * 1024;

/**
 * Puts events into the inbox. Events that arrive while earlier ones are being stored share a statement.
 * The bus delivers all companies' events in one line, so each must cost next to nothing.
 */
export class Arrivals {
  readonly #database: Database;
  readonly #onStored: () => void;
  #waiting: Waiting[] = [];
  #isStoring = false;

  constructor(database: Database, onStored: () => void) {
    this.#database = database;
    this.#onStored = onStored;
  }

  /** Resolves when the event is stored, or when no workflow waits for it. */
  put(event: ArrivedEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      if (!this.#isStoring) void this.#storeAll();
    });
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    // Events that arrive together share a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#store(this.#takeBatch());
    this.#isStoring = false;
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    try {
      await insertArrived(
        this.#database,
        batch.map(({ event }) => event),
      );
      this.#onStored();
      for (const { resolve } of batch) resolve();
    } catch (error) {
      const isAway = databaseErrorToAppError(error).reason === "UNAVAILABLE";
      // An event that the database refuses holds up none of the others.
      if (batch.length > 1 && !isAway) for (const each of batch) await this.#store([each]);
      else for (const { reject } of batch) reject(error);
    }
  }

  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    let chars = 0;
    for (const waiting of this.#waiting) {
      chars += waiting.event.event.length;
      if (batch.length === BATCH_MAX || (batch.length > 0 && chars > BATCH_CHARS_MAX)) break;
      batch.push(waiting);
    }
    this.#waiting = this.#waiting.slice(batch.length);
    return batch;
  }
}
