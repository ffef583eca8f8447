import { createDispatcherRoute } from "./dispatcher.ts";
import type { InboundContext } from "./inbound-context.ts";
import type { InboundRoute } from "./inbound-request.ts";
import { createNangoRoute } from "./nango/nango-route.ts";
import { createAirwallexHandler } from "./providers/airwallex.ts";
import { createFinanceHandler } from "./providers/finance.ts";
import { createHubspotHandler } from "./providers/hubspot.ts";

/** The routes by the first part of their path behind `/webhooks/`. */
export function createRoutes(context: InboundContext): ReadonlyMap<string, InboundRoute> {
  return new Map<string, InboundRoute>([
    ["airwallex", createDispatcherRoute(context, createAirwallexHandler(context.secrets))],
    ["finance", createDispatcherRoute(context, createFinanceHandler(context.secrets))],
    ["hubspot", createDispatcherRoute(context, createHubspotHandler(context.secrets))],
    ["nango", createNangoRoute(context)],
  ]);
}
