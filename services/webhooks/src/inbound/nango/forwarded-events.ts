import { z } from "zod";
import { hubspotRepeatId } from "../providers/hubspot.ts";
import type { NormalisedEvent } from "../provider-handler.ts";
import { toWord } from "../provider-input.ts";
import { readSentObjects } from "../sent-json.ts";
import type { SentObject } from "../sent-json.ts";

/** Providers batch their events; HubSpot up to 100. */
const EVENTS_MAX = 1_000;
const ONE_LINE = /^[^\p{Cc}]+$/u;

const wrapped = z.object({ type: z.unknown(), event: z.unknown() }).partial();
const typed = z.object({ type: z.unknown() });
const ids = z.object({
  id: z.unknown(),
  event_id: z.unknown(),
  object: z.unknown(),
  specversion: z.unknown(),
  message: z.unknown(),
});
const pubsubMessage = z.object({ messageId: z.unknown() });

/** The members that say what kind of event it is, in the order in which they are looked at. */
const TYPE_MEMBERS = ["eventType", "event_type", "subscriptionType", "type", "event"];

/**
 * The events in what a provider has sent to the broker: each element of an array is one. Ids are only those that
 * are known to be of events: that of an object would make its second event a repeat of the first.
 *
 * @param provider our id of it
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
    const repeatId = provider === "hubspot" ? hubspotRepeatId(object.value) : null;
    return repeatId === null ? event : { ...event, repeatId };
  });
}

function typeOf({ members, value }: SentObject): string | null {
  const { type, event } = wrapped.parse(value);
  // Slack wraps what it tells of.
  const inner = type === "event_callback" ? typed.safeParse(event) : null;
  if (inner?.success === true) return toWord(inner.data.type);
  for (const name of TYPE_MEMBERS) {
    const word = toWord(JSON.parse(members.get(name) ?? "null"));
    if (word !== null && ONE_LINE.test(word)) return word;
  }
  return null;
}

function idOf(provider: string, { value }: SentObject): string | null {
  const { id, event_id: eventId, object, specversion, message } = ids.parse(value);
  switch (provider) {
    case "slack":
      return toWord(eventId);
    case "stripe":
      return object === "event" ? toWord(id) : null;
    case "hubspot":
      return toWord(z.object({ eventId: z.unknown() }).parse(value).eventId);
    case "google-mail": {
      const pushed = pubsubMessage.safeParse(message);
      return pushed.success ? toWord(pushed.data.messageId) : null;
    }
    default:
      // CloudEvents, which QuickBooks sends.
      return specversion === undefined ? null : toWord(id);
  }
}
