import { AUDIT_STREAM } from "@workflow/audit";
import type { Database } from "@workflow/db";
import type { DeadLetters, EventBus, Subscription } from "@workflow/events";
import { createAuditWriter } from "./audit-writer.ts";
import { toAuditRecord } from "./audit-record.ts";

/** The durable name of the consumer. */
const CONSUMER = "gateway-audit";
const IN_FLIGHT_MAX = 200;

/** The durable consumers of each stream, for the bus inside a process, which waits for them. */
export const EVENT_CONSUMERS: Readonly<Record<string, readonly string[]>> = {
  [AUDIT_STREAM]: [CONSUMER],
};

/**
 * Stores the services' audit events in the audit log. An event is acknowledged when it is
 * committed. An event that cannot be parsed is redelivered and becomes a dead letter in the end.
 */
export function consumeAudit(
  database: Database,
  bus: EventBus,
  deadLetters: DeadLetters,
): Promise<Subscription> {
  const writer = createAuditWriter(database);
  return bus.subscribe({
    consumer: CONSUMER,
    stream: AUDIT_STREAM,
    maxInFlight: IN_FLIGHT_MAX,
    deadLetters,
    handler: async (event) => writer.write(toAuditRecord(event)),
  });
}
