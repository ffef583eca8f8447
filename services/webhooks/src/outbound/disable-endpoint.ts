import type { AuditTrail } from "@workflow/audit";
import { idTimestamp, newId, newUuid } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { EVENT_ID_PREFIX } from "@workflow/events";
import type { Logger } from "pino";
import { disableEndpoint } from "../store/delivery-endpoints.ts";
import type { DisabledEndpoint } from "../store/delivery-endpoints.ts";
import { announceEndpoint } from "../store/lanes.ts";
import type { EndpointKey } from "../store/lanes.ts";
import { insertEventsForEndpoints } from "../store/outbound-events.ts";

/** The event that tells a company's other endpoints that one was disabled (D64). */
const ENDPOINT_DISABLED = "webhook_endpoint.disabled";

/** Failed attempts in a row that disable an endpoint (D47). */
const FAILURES_MAX = 10;

/** Disables endpoints whose receivers accept no deliveries. */
export interface EndpointDisabler {
  /** Disables an endpoint once, after too many failures or when its receiver says that it is gone. */
  disableIfDue(endpoint: EndpointKey, failures: number, isGone: boolean): Promise<void>;
}

/** The dependencies of disabling. */
export interface DisablerOptions {
  database: Database;
  audit: AuditTrail;
  logger: Logger;
  retentionDays: number;
  /** Called when there may be an event for other endpoints. */
  onEvent: () => void;
}

/** @see EndpointDisabler */
export function createEndpointDisabler(options: DisablerOptions): EndpointDisabler {
  const { database, audit, logger } = options;
  return {
    async disableIfDue(endpoint, failures, isGone) {
      if (failures < FAILURES_MAX && !isGone) return;
      const reason = isGone ? "gone" : "consecutive_failures";
      const disabled = await database.transaction(async (transaction) => {
        const failuresMin = isGone ? 0 : FAILURES_MAX;
        const row = await disableEndpoint(transaction, endpoint, reason, failuresMin);
        if (row !== null) await tell(transaction, options, row, reason);
        return row;
      });
      if (disabled === null) return;
      logger.info({ ...endpoint, reason }, "an endpoint was disabled");
      audit.wake();
      options.onEvent();
    },
  };
}

async function tell(
  transaction: Transaction,
  { audit, retentionDays }: DisablerOptions,
  disabled: DisabledEndpoint,
  reason: string,
): Promise<void> {
  const { endpointId, companyId, name, consecutiveFailures, disabledAt } = disabled;
  const caller = {
    identity: { companyId, principal: { type: "service", id: "webhooks" } },
    requestId: newUuid(),
    client: {},
  };
  await audit.record(transaction, caller, {
    action: ENDPOINT_DISABLED,
    resourceType: "webhook_endpoint",
    resourceId: endpointId,
    changes: {
      status: { from: "active", to: "disabled" },
      disabledReason: { from: null, to: reason },
    },
  });
  const id = newId(EVENT_ID_PREFIX);
  const occurredAt = idTimestamp(id);
  const data = {
    endpointId,
    endpointName: name,
    reason,
    consecutiveFailures,
    disabledAt: disabledAt.toISOString(),
  };
  const envelope = {
    id,
    type: ENDPOINT_DISABLED,
    timestamp: occurredAt.toISOString(),
    companyId,
    data,
  };
  const event = {
    id,
    companyId,
    type: ENDPOINT_DISABLED,
    workflowId: null,
    runId: null,
    occurredAt,
    endpointId,
    envelope: JSON.stringify(envelope),
  };
  await insertEventsForEndpoints(transaction, [event], { keptDays: retentionDays, leaseMs: 0 });
  await announceEndpoint(transaction, disabled);
}
