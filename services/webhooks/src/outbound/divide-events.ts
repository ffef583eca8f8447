import type { EventEnvelope } from "@workflow/events";
import type { NewDelivery, RenderedEvent } from "../store/new-deliveries.ts";
import type { ClaimedEvent } from "../store/claim-events.ts";
import type { EventTarget } from "../store/outbound-events.ts";

/**
 * The limits of one statement, which takes some tens of milliseconds: deliveries, and stored bytes of
 * bodies.
 */
const DELIVERIES_MAX = 1_000;
const BODY_BYTES_MAX = 8 * 1024 * 1024;
/**
 * The limit of a round's endpoints, which is about the number of its deliveries. All other events wait
 * until the round ends. The event that reaches the limit is the last one.
 */
export const ROUND_MAX = 2_000;

/** An event whose envelope was parsed. */
export interface ReadEvent extends ClaimedEvent {
  envelope: string;
  read: EventEnvelope;
}

/** An event with its new deliveries. */
export interface ReadyEvent {
  companyId: string;
  event: RenderedEvent;
  /** W3C trace context of the event; null when its trace is not recorded. */
  traceparent: string | null;
  deliveries: readonly NewDelivery[];
  targets: readonly EventTarget[];
}

/**
 * Selects the events of a round: one of each company, then the second of each, and so on.
 *
 * @param endpoints the number of each company's endpoints
 */
export function withinRound(
  events: readonly ReadEvent[],
  endpoints: ReadonlyMap<string, number>,
): { now: ReadEvent[]; later: ReadEvent[] } {
  const queues = [...Map.groupBy(events, ({ companyId }) => companyId).values()];
  const longest = Math.max(0, ...queues.map((queue) => queue.length));
  const now: ReadEvent[] = [];
  const later: ReadEvent[] = [];
  let made = 0;
  for (let turn = 0; turn < longest; turn += 1) {
    for (const event of queues.flatMap((queue) => queue.slice(turn, turn + 1))) {
      const isFull = made >= ROUND_MAX;
      (isFull ? later : now).push(event);
      if (!isFull) made += endpoints.get(event.companyId) ?? 0;
    }
  }
  return { now, later };
}

/** Divides events into parts of one statement each. Events of companies with few new deliveries come first. */
export function inParts(unordered: readonly ReadyEvent[]): ReadyEvent[][] {
  const ready = [...Map.groupBy(unordered, ({ companyId }) => companyId).values()]
    .map((events) => ({
      events,
      count: events.reduce((sum, { deliveries }) => sum + deliveries.length, 0),
    }))
    .sort((one, other) => one.count - other.count)
    .flatMap(({ events }) => events);
  const parts: ReadyEvent[][] = [];
  let deliveries = Infinity;
  let bytes = 0;
  for (const each of ready) {
    deliveries += each.deliveries.length;
    bytes += each.event.body.length;
    if (deliveries > DELIVERIES_MAX || bytes > BODY_BYTES_MAX) {
      parts.push([]);
      deliveries = each.deliveries.length;
      bytes = each.event.body.length;
    }
    parts.at(-1)?.push(each);
  }
  return parts;
}
