import { answerTogether, Batcher } from "@workflow/async";
import { bytesOf, START_BYTES_MAX, START_EVENTS_MAX } from "./event-starter.ts";
import type { EventStarter, StartableEvent } from "./event-starter.ts";

const CALLS_MAX = 3;

/** Starts the runs of events that were just stored. Events that arrive together share a call. */
export class StartQueue {
  readonly #waitMs: number;
  readonly #events: Batcher<{ event: StartableEvent; until: number }, number>;

  constructor(starter: EventStarter, waitMs: number) {
    this.#waitMs = waitMs;
    this.#events = new Batcher({
      itemsMax: START_EVENTS_MAX,
      sizeMax: START_BYTES_MAX,
      sizeOf: ({ event }) => bytesOf(event),
      tenantOf: ({ event }) => event.companyId,
      batchesMax: CALLS_MAX,
      handle: answerTogether(async (waiting) => {
        // The sweeper handles events whose sender has left, after their lease has ended.
        const now = Date.now();
        const inTime = waiting.filter(({ until }) => until > now);
        const runCounts = await starter.start(inTime.map(({ event }) => event));
        return waiting.map(({ event }) => runCounts.get(event.id) ?? 0);
      }),
    });
  }

  /**
   * The number of runs that an event has started. It is 0 when starting takes too long; then the start
   * continues without the sender.
   */
  async add(event: StartableEvent): Promise<number> {
    const late = Promise.withResolvers<number>();
    const timer = setTimeout(late.resolve, this.#waitMs, 0);
    const started = this.#events.ask({ event, until: Date.now() + this.#waitMs });
    return Promise.race([started, late.promise]).finally(() => clearTimeout(timer));
  }

  /** Resolves when nothing waits and nothing runs. */
  drain(): Promise<void> {
    return this.#events.whenIdle();
  }
}
