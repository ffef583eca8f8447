import type { InboundContext } from "../inbound-context.ts";
import { listSecrets } from "../inbound-context.ts";
import type { InboundRoute } from "../inbound-request.ts";
import { wordOf } from "../provider-input.ts";
import { createSignedRoute } from "./signed-route.ts";
import { verifyStripe } from "./verify-stripe.ts";

/** Accepts events of Stripe, those of connected accounts included: `account` names the account. */
export function createStripeRoute(context: InboundContext): InboundRoute {
  const secrets = listSecrets(context.secrets.stripe);
  return createSignedRoute(context, {
    provider: "stripe",
    verify: (request) => verifyStripe(request, secrets),
    accountsOf(event) {
      const account = wordOf(event, "account");
      return account === null ? [] : [account];
    },
    normalise: (event) => ({
      eventType: wordOf(event, "type"),
      externalEventId: wordOf(event, "id"),
      dataJson: event.members.get("data") ?? "null",
    }),
  });
}
