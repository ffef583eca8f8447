import type { InboundContext } from "./inbound-context.ts";
import type { InboundRoute } from "./inbound-request.ts";

/** The routes by the first part of their path behind `/webhooks/`. */
export function createRoutes(_context: InboundContext): ReadonlyMap<string, InboundRoute> {
  return new Map<string, InboundRoute>([]);
}
