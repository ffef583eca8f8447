import { bodySchema, prefixedId, TIMESTAMP } from "./event-type.ts";
import type { EventType } from "./event-type.ts";

const TYPE = "webhook_endpoint.disabled";
const DISABLED_AT = "2026-01-31T08:00:02.345Z";

/** Tells a company's other endpoints that one of them is disabled (D47). */
export const endpointDisabledType: EventType = {
  type: TYPE,
  description:
    "Another endpoint of the company was disabled, because its receiver failed too often or is gone.",
  schema: bodySchema(
    TYPE,
    {
      endpointId: prefixedId("whe_"),
      endpointName: { type: "string" },
      reason: { enum: ["consecutive_failures", "gone"] },
      consecutiveFailures: { type: "integer", minimum: 0 },
      disabledAt: TIMESTAMP,
    },
    {},
  ),
  example: {
    id: "evt_01kg9d1m3cexw9f1c3f4r7m2qa",
    type: TYPE,
    timestamp: DISABLED_AT,
    companyId: "019c12d0-0000-7abc-9def-0123456789ab",
    endpointId: "whe_01kg9d1kzcexw9f1c3f4r7m2qa",
    endpointName: "Accounting",
    reason: "consecutive_failures",
    consecutiveFailures: 10,
    disabledAt: DISABLED_AT,
  },
};
