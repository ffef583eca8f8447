import { createCustomRoute } from "./custom-route.ts";
import { createDispatcherRoute } from "./dispatcher.ts";
import type { InboundContext } from "./inbound-context.ts";
import type { InboundRoute } from "./inbound-request.ts";
import { createNangoRoute } from "./nango/nango-route.ts";
import { createAirwallexHandler } from "./providers/airwallex.ts";
import { createFinanceHandler } from "./providers/finance.ts";
import { createHubspotHandler } from "./providers/hubspot.ts";
import { createResendRoute } from "./providers/resend-route.ts";
import { createStripeRoute } from "./providers/stripe-route.ts";

/** The routes by the first part of their path behind `/webhooks/`. */
export function createRoutes(context: InboundContext): ReadonlyMap<string, InboundRoute> {
  return new Map<string, InboundRoute>([
    ["airwallex", createDispatcherRoute(context, createAirwallexHandler(context.secrets))],
    ["custom", createCustomRoute(context)],
    ["finance", createDispatcherRoute(context, createFinanceHandler(context.secrets))],
    ["hubspot", createDispatcherRoute(context, createHubspotHandler(context.secrets))],
    ["nango", createNangoRoute(context)],
    ["resend", createResendRoute(context)],
    ["stripe", createStripeRoute(context)],
  ]);
}
