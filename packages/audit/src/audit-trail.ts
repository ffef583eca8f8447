import type { Queryable } from "@workflow/db";
import { createOutboxRelay, insertEvents } from "@workflow/events";
import type { OutboxRelayOptions } from "@workflow/events";
import type { AuditCaller, AuditEntry } from "./audit.ts";
import { AUDIT_STREAM, toAuditEvent } from "./audit.ts";

/** Records changes for the audit log. */
export interface AuditTrail {
  /** Puts a caller's changes into the outbox, in the transaction that makes them. */
  record(tx: Queryable, caller: AuditCaller, ...entries: readonly AuditEntry[]): Promise<void>;
  /** Call it after such a commit. It is cheap and never throws. */
  wake(): void;
  /** Ends after the batch under way. Remaining events stay in the outbox. */
  stop(): Promise<void>;
}

/** Opens the relay from a service's outbox to the audit stream. */
export function createAuditTrail(options: Omit<OutboxRelayOptions, "stream">): AuditTrail {
  const relay = createOutboxRelay({ ...options, stream: AUDIT_STREAM });
  return {
    async record(tx, caller, ...entries) {
      const events = entries.map((entry) => toAuditEvent(caller, entry));
      await insertEvents(tx, options.schema, events, AUDIT_STREAM);
    },
    wake: () => relay.wake(),
    stop: () => relay.stop(),
  };
}
