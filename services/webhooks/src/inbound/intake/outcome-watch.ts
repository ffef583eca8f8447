import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { listClaimed, listOutcomes } from "../../store/inbound-claims.ts";
import type { EventOutcome } from "../../store/inbound-claims.ts";
import type { MessageKey } from "../../store/insert-inbound-events.ts";
import type { Accepted } from "../../domain/inbound-message.ts";

const POLL_MS = 100;
/** Events in one query. */
const ASKED_MAX = 1_000;

interface Watcher {
  eventIds: readonly string[];
  until: number;
  resolve: (outcomes: readonly EventOutcome[]) => void;
}

/**
 * Waits for the outcome of the first message, on behalf of its repeats (D41), in whichever process it
 * is handled. All waiting repeats share one query.
 */
export class OutcomeWatch {
  readonly #database: Database;
  readonly #logger: Logger;
  #watchers: Watcher[] = [];
  #isPolling = false;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** The outcome of the message that has claimed the key, as known within `waitMs`. */
  async find(key: MessageKey, waitMs: number): Promise<Accepted> {
    const eventIds = await listClaimed(this.#database, key);
    if (eventIds.length === 0) return { eventId: null, workflowsTriggered: 0 };
    const outcomes = await new Promise<readonly EventOutcome[]>((resolve) => {
      this.#watchers.push({ eventIds, until: Date.now() + waitMs, resolve });
      if (!this.#isPolling) void this.#poll();
    });
    const workflowsTriggered = outcomes.reduce((sum, { runCount }) => sum + runCount, 0);
    return { eventId: eventIds[0] ?? null, workflowsTriggered };
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    while (this.#watchers.length > 0) {
      await this.#ask();
      if (this.#watchers.length > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.#isPolling = false;
  }

  async #ask(): Promise<void> {
    const asked = this.#watchers.splice(0, ASKED_MAX);
    const ids = new Set(asked.flatMap(({ eventIds }) => eventIds));
    const outcomes = new Map<string, EventOutcome>();
    try {
      for (const outcome of await listOutcomes(this.#database, [...ids])) {
        outcomes.set(outcome.id, outcome);
      }
    } catch (error) {
      this.#logger.warn({ err: error }, "could not read the first events of repeats");
    }
    const now = Date.now();
    for (const watcher of asked) {
      const found = watcher.eventIds.flatMap((id) => outcomes.get(id) ?? []);
      const isSettled = outcomes.size > 0 && found.every((outcome) => outcome.isSettled);
      if (isSettled || now >= watcher.until) watcher.resolve(found);
      else this.#watchers.push(watcher);
    }
  }
}
