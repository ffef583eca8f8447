import { listSecrets } from "../inbound-context.ts";
import type { InboundSecrets } from "../../options.ts";
import { findSignatureHeader } from "../inbound-request.ts";
import type { ProviderHandler } from "../provider-handler.ts";
import { wordOf } from "../provider-input.ts";
import { readSentObject } from "../sent-json.ts";
import type { SentObject } from "../sent-json.ts";
import { isSigned, isTimely, parseHexDigest } from "../signatures/hmac.ts";

/**
 * Airwallex: `x-signature` is the HMAC-SHA256, in hexadecimal digits, of `x-timestamp` (milliseconds) and the body
 * (airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events).
 */
export function createAirwallexHandler(settings: InboundSecrets): ProviderHandler<SentObject> {
  const secrets = listSecrets(settings.airwallex);
  return {
    provider: "airwallex",
    verify(request) {
      if (secrets.length === 0) return "unconfigured";
      const signature = findSignatureHeader(request, "x-signature");
      const timestamp = findSignatureHeader(request, "x-timestamp");
      if (signature === null) return "missing";
      const digest = parseHexDigest(signature);
      if (digest === null || timestamp === null) return "failed";
      if (!isTimely(timestamp, request.receivedAt, "milliseconds")) return "failed";
      return isSigned(secrets, [timestamp, request.rawBody], [digest]) ? "verified" : "failed";
    },
    parse: ({ rawBody }) => [readSentObject(rawBody)],
    accountsOf(event) {
      // Older versions of their API have the second name.
      const account = wordOf(event, "account_id") ?? wordOf(event, "accountId");
      return account === null ? [] : [account];
    },
    normalise: (event) => ({
      eventType: wordOf(event, "name"),
      externalEventId: wordOf(event, "id"),
      dataJson: event.members.get("data") ?? event.text,
    }),
  };
}
