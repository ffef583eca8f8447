import { z } from "zod";
import type { InboundContext } from "../inbound-context.ts";
import { listSecrets } from "../inbound-context.ts";
import type { InboundRoute } from "../inbound-request.ts";
import { toWord } from "../provider-input.ts";
import { createSignedRoute } from "./signed-route.ts";
import { verifyStripe } from "./verify-stripe.ts";

const word = z.unknown().optional();
const body = z.object({ id: word, type: word, account: word });

/** Events of Stripe, those of connected accounts included: `account` tells whose they are. */
export function createStripeRoute(context: InboundContext): InboundRoute {
  const secrets = listSecrets(context.secrets.stripe);
  return createSignedRoute(context, {
    provider: "stripe",
    verify: (request) => verifyStripe(request, secrets),
    accountsOf({ value }) {
      const account = toWord(body.parse(value).account);
      return account === null ? [] : [account];
    },
    normalise({ value, members }) {
      const { id, type } = body.parse(value);
      const dataJson = members.get("data") ?? "null";
      return { eventType: toWord(type), externalEventId: toWord(id), dataJson };
    },
  });
}
