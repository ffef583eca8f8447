import { createCustomRoute } from "./custom-route.ts";
import type { InboundContext } from "./inbound-context.ts";
import type { InboundRoute } from "./inbound-request.ts";
import { createResendRoute } from "./providers/resend-route.ts";
import { createStripeRoute } from "./providers/stripe-route.ts";

/** The routes by the first part of their path behind `/webhooks/`. */
export function createRoutes(context: InboundContext): ReadonlyMap<string, InboundRoute> {
  return new Map<string, InboundRoute>([
    ["custom", createCustomRoute(context)],
    ["stripe", createStripeRoute(context)],
    ["resend", createResendRoute(context)],
  ]);
}
