import { z } from "zod";
import { hubspotRepeatId } from "../providers/hubspot.ts";
import type { NormalisedEvent } from "../provider-handler.ts";
import { toWord, wordOf } from "../provider-input.ts";
import { memberOf, readSentObjects } from "../sent-json.ts";
import type { SentObject } from "../sent-json.ts";

/** Providers batch their events; HubSpot sends up to 100. */
const EVENTS_MAX = 1_000;

const typed = z.object({ type: z.string() });
const pubsubMessage = z.object({ messageId: z.union([z.string(), z.number()]) });

/** The members that may hold the type of event, in the order in which they are tried. */
const TYPE_MEMBERS = ["eventType", "event_type", "subscriptionType", "type", "event"];

/**
 * The events in a provider's message to the broker; each element of an array is one. Only known event
 * ids are used: with an object's id, its second event would count as a repeat of the first.
 *
 * @param provider our id of the provider
 */
export function readForwardedEvents(provider: string, payloadText: string): NormalisedEvent[] {
  const isObjects = /^\s*(?:\{|\[\s*\{)/.test(payloadText);
  if (!isObjects) return [{ eventType: null, externalEventId: null, dataJson: payloadText }];
  return readSentObjects(payloadText, EVENTS_MAX).map((object) => {
    const event = {
      eventType: typeOf(object),
      externalEventId: idOf(provider, object),
      dataJson: object.text,
    };
    const repeatId = provider === "hubspot" ? hubspotRepeatId(object) : null;
    return repeatId === null ? event : { ...event, repeatId };
  });
}

function typeOf(object: SentObject): string | null {
  // Slack wraps its events.
  const inner =
    wordOf(object, "type") === "event_callback" ? typed.safeParse(memberOf(object, "event")) : null;
  if (inner?.success === true) return toWord(inner.data.type);
  for (const name of TYPE_MEMBERS) {
    const word = wordOf(object, name);
    if (word !== null) return word;
  }
  return null;
}

function idOf(provider: string, object: SentObject): string | null {
  switch (provider) {
    case "slack":
      return wordOf(object, "event_id");
    case "stripe":
      return memberOf(object, "object") === "event" ? wordOf(object, "id") : null;
    case "hubspot":
      return wordOf(object, "eventId");
    case "google-mail": {
      const pushed = pubsubMessage.safeParse(memberOf(object, "message"));
      return pushed.success ? toWord(pushed.data.messageId) : null;
    }
    default:
      // QuickBooks sends CloudEvents.
      return object.members.has("specversion") ? wordOf(object, "id") : null;
  }
}
