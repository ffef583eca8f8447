import type { InboundContext } from "../inbound-context.ts";
import { listSecrets } from "../inbound-context.ts";
import type { InboundRoute } from "../inbound-request.ts";
import { textMember, toPayload } from "../read-json.ts";
import { createSignedRoute } from "./signed-route.ts";
import { verifyStripe } from "./verify-stripe.ts";

const PROVIDER = "stripe";
const TEXT_CHARS_MAX = 255;

/** Events of Stripe, those of connected accounts included: `account` tells whose they are. */
export function createStripeRoute(context: InboundContext): InboundRoute {
  const secrets = listSecrets(context.secrets.stripe);
  return createSignedRoute(context, {
    verify: (request) => verifyStripe(request, secrets),
    read: ({ members }) => {
      const accountId = textMember(members, "account", TEXT_CHARS_MAX);
      const eventType = textMember(members, "type", TEXT_CHARS_MAX);
      const externalEventId = textMember(members, "id", TEXT_CHARS_MAX);
      const dataJson = members.get("data") ?? "null";
      return {
        provider: PROVIDER,
        receivers: { accountIds: accountId === null ? [] : [accountId], whenNobody: "record" },
        eventType,
        externalEventId,
        payloadJson: toPayload({ eventType, externalEventId, dataJson }),
        trigger: { accountId },
      };
    },
  });
}
