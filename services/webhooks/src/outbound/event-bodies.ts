import { answerTogether, Batcher } from "@workflow/async";
import type { Database } from "@workflow/db";
import { cacheMetrics } from "@workflow/service";
import type { CacheMetrics } from "@workflow/service";
import type { Registry } from "prom-client";
import { LRUCache } from "lru-cache";
import { readBodies } from "../store/deliveries.ts";
import type { StoredBody } from "../store/deliveries.ts";

interface Wanted {
  eventId: string;
  bodyBytes: number;
}

/** The body of an event, and its trace context. */
export interface EventBody {
  bytes: Buffer;
  /** W3C trace context; null when the trace is not recorded. */
  traceparent: string | null;
}

const KEPT_BYTES_MAX = 32 * 1024 * 1024;
const READ_BYTES_MAX = 8 * 1024 * 1024;
const READ_MAX = 128;

/** The bodies of events, shared by all deliveries of an event. The most recently used ones are cached. */
export class EventBodies {
  readonly #kept = new LRUCache<string, EventBody>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes.length + 1,
  });
  readonly #reads: Batcher<Wanted, EventBody | null>;

  readonly #metrics: CacheMetrics;

  constructor(database: Database, metricsRegistry?: Registry) {
    this.#metrics = cacheMetrics(metricsRegistry, "event_bodies", () => ({
      entries: this.#kept.size,
      bytes: this.#kept.calculatedSize,
    }));
    this.#reads = new Batcher<Wanted, EventBody | null>({
      itemsMax: READ_MAX,
      sizeMax: READ_BYTES_MAX,
      sizeOf: ({ bodyBytes }) => bodyBytes,
      batchesMax: 1,
      handle: answerTogether(async (wanted) => {
        const ids = [...new Set(wanted.map(({ eventId }) => eventId))];
        const bodies = await readBodies(database, ids);
        for (const [id, body] of bodies) this.#kept.set(id, toEventBody(body));
        return wanted.map(({ eventId }) => {
          const body = bodies.get(eventId);
          return body === undefined ? null : (this.#kept.get(eventId) ?? toEventBody(body));
        });
      }),
    });
  }

  /** Caches a new body, whose deliveries are about to be sent. */
  add(eventId: string, body: StoredBody): void {
    this.#kept.set(eventId, toEventBody(body));
  }

  /** The body of an event; null when the event is no longer kept. */
  get(wanted: Wanted): Promise<EventBody | null> {
    const kept = this.#kept.get(wanted.eventId);
    if (kept === undefined) this.#metrics.miss();
    else this.#metrics.hit();
    return kept === undefined ? this.#reads.ask(wanted) : Promise.resolve(kept);
  }
}

function toEventBody({ body, traceparent }: StoredBody): EventBody {
  return { bytes: Buffer.from(body), traceparent };
}
