import { bytesOf, START_BYTES_MAX, START_EVENTS_MAX } from "./event-starter.ts";
import type { EventStarter, StartableEvent } from "./event-starter.ts";
import { TurnBatches } from "./turn-batches.ts";

const CALLS_MAX = 3;

interface Waiting {
  event: StartableEvent;
  until: number;
  resolve: (runCount: number) => void;
}

/** Starts the runs of events that were just stored. Events that arrive together share a call. */
export class StartQueue {
  readonly #starter: EventStarter;
  readonly #waitMs: number;
  readonly #batches: TurnBatches<Waiting>;

  constructor(starter: EventStarter, waitMs: number) {
    this.#starter = starter;
    this.#waitMs = waitMs;
    this.#batches = new TurnBatches<Waiting>({
      itemsMax: START_EVENTS_MAX,
      bytesMax: START_BYTES_MAX,
      lanesMax: CALLS_MAX,
      bytesOf: ({ event }) => bytesOf(event),
      work: (batch) => this.#start(batch),
    });
  }

  /**
   * How many runs an event has started, or 0 when that takes too long: the start then goes on without the sender.
   */
  add(event: StartableEvent): Promise<number> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#waitMs, 0);
      this.#batches.add(event.companyId, {
        event,
        until: Date.now() + this.#waitMs,
        resolve: (runCount) => {
          clearTimeout(timer);
          resolve(runCount);
        },
      });
    });
  }

  drain(): Promise<void> {
    return this.#batches.drain();
  }

  /** Events whose sender has gone are left to the sweeper, after their lease has ended. */
  async #start(batch: readonly Waiting[]): Promise<void> {
    const now = Date.now();
    const inTime = batch.filter(({ until }) => until > now);
    const runCounts = await this.#starter.start(inTime.map(({ event }) => event));
    for (const { event, resolve } of inTime) resolve(runCounts.get(event.id) ?? 0);
  }
}
