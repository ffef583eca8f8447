import { answerTogether, Batcher } from "@workflow/async";
import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { EventEnvelope } from "@workflow/events";
import { insertEventsForEndpoints } from "../store/outbound-events.ts";
import type { NewOutboundEvent } from "../store/outbound-events.ts";
import type { FanOut } from "./fan-out.ts";
import { isRunEvent, runOf } from "./render-body.ts";

/** Stores the events of runs for delivery. */
export interface Ingest {
  /** Resolves when the event is stored, or no endpoint wants it. Throws when neither is known. */
  put(event: EventEnvelope): Promise<void>;
  /** Stores the missing ones of these events; returns their number. */
  putMissing(events: readonly EventEnvelope[]): Promise<number>;
}

/** The dependencies of storing events. */
export interface IngestOptions {
  database: Database;
  /** The age beyond which events are not stored, because their partition is gone or soon will be. */
  retentionDays: number;
  /** Makes the deliveries. */
  fanOut: Pick<FanOut, "wake" | "leaseFor" | "take">;
}

const BATCH_MAX = 256;

/** @see Ingest */
export function createIngest({ database, retentionDays: keptDays, fanOut }: IngestOptions): Ingest {
  const insert = async (events: readonly NewOutboundEvent[]): Promise<number> => {
    const leaseMs = fanOut.leaseFor(events.length);
    const ids = new Set(await insertEventsForEndpoints(database, events, { keptDays, leaseMs }));
    if (ids.size === 0) return 0;
    if (leaseMs > 0) fanOut.take(events.filter(({ id }) => ids.has(id)));
    else fanOut.wake();
    return ids.size;
  };
  // Events that arrive while earlier ones are being stored share a statement, because the bus delivers
  // the events of all companies in one line.
  const arrivals = new Batcher<NewOutboundEvent, void>({
    itemsMax: BATCH_MAX,
    batchesMax: 1,
    handle: answerTogether(async (events) => {
      await insert(events);
      return events.map(() => undefined);
    }),
    // An event that the database refuses must not block the others.
    isOfOneItem: (error) => databaseErrorToAppError(error).reason !== "UNAVAILABLE",
  });
  return {
    async put(event) {
      if (!isRunEvent(event.type)) return;
      await arrivals.ask(toRow(event));
    },
    async putMissing(events) {
      const rows = events.filter(({ type }) => isRunEvent(type)).map(toRow);
      let stored = 0;
      for (let from = 0; from < rows.length; from += BATCH_MAX) {
        stored += await insert(rows.slice(from, from + BATCH_MAX));
      }
      return stored;
    },
  };
}

function toRow(event: EventEnvelope): NewOutboundEvent {
  const { id, companyId, type, timestamp } = event;
  return {
    id,
    companyId,
    type,
    ...runOf(event),
    occurredAt: new Date(timestamp),
    endpointId: null,
    envelope: JSON.stringify(event),
  };
}
