import { newId, newUuid } from "@workflow/db";
import { pino } from "pino";
import type { EventBus, EventEnvelope, PublishedEvent } from "../../src/index.ts";
import { EVENT_ID_PREFIX } from "../../src/index.ts";

export const silentLogger = pino({ level: process.env["TEST_LOG_LEVEL"] ?? "silent" });

/** A stream name that no other test uses, as the server may be shared. */
export function newStreamName(): string {
  return `test_${newUuid().replaceAll("-", "").slice(-12)}`;
}

export function makeEvent(
  stream: string,
  data: Record<string, unknown> = {},
  type = "thing.happened",
): PublishedEvent {
  const envelope: EventEnvelope = {
    id: newId(EVENT_ID_PREFIX),
    type,
    timestamp: new Date().toISOString(),
    companyId: newUuid(),
    data,
  };
  return { id: envelope.id, stream, type, body: JSON.stringify(envelope) };
}

export function makeEvents(stream: string, count: number): PublishedEvent[] {
  return Array.from({ length: count }, (_, index) => makeEvent(stream, { index }));
}

/** Publishes again until the bus has everything, as a relay does. */
export async function publishUntilDurable(
  bus: EventBus,
  events: readonly PublishedEvent[],
  timeoutMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await bus.publish(events);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

export function idsOf(events: readonly { id: string }[]): string[] {
  return events.map(({ id }) => id);
}
