import { AUDIT_STREAM } from "@workflow/audit";
import type { Database } from "@workflow/db";
import type { DeadLetters, EventBus, Subscription } from "@workflow/events";
import { createAuditWriter } from "./audit-writer.ts";
import { toAuditRecord } from "./to-audit-record.ts";

/** The durable name under which events are consumed. */
const CONSUMER = "gateway-audit";
const IN_FLIGHT_MAX = 200;

/** The durable consumers of each stream, for a bus within the process, which waits for them. */
export const EVENT_CONSUMERS: Readonly<Record<string, readonly string[]>> = {
  [AUDIT_STREAM]: [CONSUMER],
};

/**
 * Takes what the services tell of changes by callers into the audit log. An event is acknowledged
 * when it is committed; one that cannot be understood comes again, and ends among the dead letters.
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
