import type { InboundSecrets } from "../../options.ts";
import { listSecrets } from "../inbound-context.ts";
import { findSignatureHeader } from "../inbound-request.ts";
import type { ProviderHandler } from "../provider-handler.ts";
import { wordOf } from "../provider-input.ts";
import { readSentObjects } from "../sent-json.ts";
import type { SentObject } from "../sent-json.ts";
import { isSigned, isTimely, parseBase64Digest } from "../signatures/hmac.ts";

/** HubSpot sends up to 100 events at once. */
const EVENTS_MAX = 1_000;
/** Characters that HubSpot signs unencoded when a query has them encoded. */
const SIGNED_PLAIN = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** The members that together identify an event. */
const IDENTIFYING = ["portalId", "eventId", "subscriptionId", "objectId", "occurredAt"];

/**
 * HubSpot: `X-HubSpot-Signature-v3` is the HMAC-SHA256, in base64, of method, address, body and
 * `X-HubSpot-Request-Timestamp` (milliseconds) under the app's client secret (developers.hubspot.com/docs, "Request
 * validation"). The older signatures have no time and are ignored.
 */
export function createHubspotHandler(settings: InboundSecrets): ProviderHandler<SentObject> {
  const secrets = listSecrets(settings.hubspot);
  return {
    provider: "hubspot",
    verify(request) {
      if (secrets.length === 0) return "unconfigured";
      const signature = findSignatureHeader(request, "x-hubspot-signature-v3");
      const timestamp = findSignatureHeader(request, "x-hubspot-request-timestamp");
      if (signature === null) return "missing";
      const digest = parseBase64Digest(signature);
      if (digest === null || timestamp === null) return "failed";
      if (!isTimely(timestamp, request.receivedAt, "milliseconds")) return "failed";
      const parts = ["POST", signedAddress(request.url), request.rawBody, timestamp];
      return isSigned(secrets, parts, [digest]) ? "verified" : "failed";
    },
    parse: ({ rawBody }) => readSentObjects(rawBody, EVENTS_MAX),
    accountsOf(event) {
      const portal = wordOf(event, "portalId");
      return portal === null ? [] : [portal];
    },
    normalise(sent) {
      const event = {
        eventType: wordOf(sent, "subscriptionType"),
        externalEventId: wordOf(sent, "eventId"),
        dataJson: sent.text,
      };
      const repeatId = hubspotRepeatId(sent);
      return repeatId === null ? event : { ...event, repeatId };
    },
  };
}

/**
 * An id for recognizing repeats: HubSpot says that an eventId is unique neither over portals nor over
 * subscriptions. Null without an eventId.
 */
export function hubspotRepeatId(event: SentObject): string | null {
  if (wordOf(event, "eventId") === null) return null;
  const repeatId = IDENTIFYING.map((name) => wordOf(event, name) ?? "").join("/");
  return repeatId.length > 255 ? null : repeatId;
}

function signedAddress(url: string): string {
  const at = url.indexOf("?");
  if (at === -1) return url;
  return (
    url.slice(0, at) + url.slice(at).replaceAll(SIGNED_PLAIN, (text) => decodeURIComponent(text))
  );
}
