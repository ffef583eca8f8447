import { createHmac } from "node:crypto";
import type { List, PageMeta, WorkflowClient } from "@workflow/client";

/** A message to post. */
export interface Message {
  kind: "outbound" | "inbound";
  id: string;
  type: string;
  body: string;
  headers: Readonly<Record<string, string>>;
}

/** A source of messages. */
export interface Source {
  /** The messages since the last call, oldest first. */
  take(): Promise<Message[]>;
}

/** A message that appears up to so long after a younger one is still found; a later one is not. */
const LATE_MS = 60_000;
/** The highest number of messages that are taken from a backlog at once. */
const TAKEN_MAX = 1_000;

interface Listed {
  id: string;
  createdAt: string;
}

/** The deliveries of an endpoint. Deliveries without a body yet are left for later. */
export async function deliveriesOf(
  client: WorkflowClient,
  options: { endpointId: string; since: string | undefined; secret: string | undefined },
): Promise<Source> {
  const { endpointId, since, secret } = options;
  return newOnes(
    () => client.webhookEndpoints.listDeliveries(endpointId, { limit: 100 }),
    since,
    async ({ id }) => {
      const { request, eventId, eventType } = await client.webhookEndpoints.getDelivery(
        endpointId,
        id,
      );
      const { body } = request;
      if (body === null) return null;
      const headers = { ...readable(request.headers), ...signed(body, eventId, secret) };
      return { kind: "outbound", id, type: eventType, body, headers };
    },
  );
}

/** The inbound events of a company. */
export async function inboundEvents(
  client: WorkflowClient,
  options: { provider: string | undefined; since: string | undefined },
): Promise<Source> {
  const { provider, since } = options;
  const query = { limit: 100, provider };
  return newOnes(
    () => client.webhookEvents.list(query),
    since,
    async ({ id }) => {
      const event = await client.webhookEvents.get(id);
      const type = event.eventType ?? "-";
      return {
        kind: "inbound",
        id,
        type,
        body: JSON.stringify(event.payload),
        headers: {
          "content-type": "application/json",
          "x-webhook-provider": event.provider,
          "x-webhook-event": type,
          "x-webhook-id": event.eventId ?? id,
        },
      };
    },
  );
}

/** Follows a list whose first item is the newest. */
async function newOnes<Item extends Listed>(
  list: () => List<Item, PageMeta>,
  since: string | undefined,
  read: (item: Item) => Promise<Message | null>,
): Promise<Source> {
  /** By id, the creation time of the items that were taken. */
  const taken = new Map<string, string>();
  // Clocks differ, so the list's newest item tells where to begin, not the local time.
  const { items } = await list();
  if (since === undefined) for (const { id, createdAt } of items) taken.set(id, createdAt);
  let from = since ?? items[0]?.createdAt ?? "";
  return {
    take: async () => {
      const found: Item[] = [];
      for await (const item of list()) {
        if (item.createdAt < from || found.length >= TAKEN_MAX) break;
        if (!taken.has(item.id)) found.push(item);
      }
      const messages: Message[] = [];
      for (const item of found.toReversed()) {
        const message = await read(item);
        if (message === null) continue;
        taken.set(item.id, item.createdAt);
        messages.push(message);
      }
      from = later(from, found[0]);
      for (const [id, createdAt] of taken) if (createdAt < from) taken.delete(id);
      return messages;
    },
  };
}

/** The moment from which messages are searched, given the newest one. */
function later(from: string, newest: Listed | undefined): string {
  if (newest === undefined) return from;
  const candidate = new Date(Date.parse(newest.createdAt) - LATE_MS).toISOString();
  return candidate > from ? candidate : from;
}

/** What is about one connection or one signature, neither of which this is. */
const NOT_KEPT =
  /^(host|content-length|connection|accept-encoding|(x-)?webhook-(timestamp|signature))$/;

/** The headers of a delivery; the values of custom ones are hidden by the service, and so left out. */
function readable(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name, value]) => !/[^\x20-\x7e]/.test(value) && !NOT_KEPT.test(name));
  return { "content-type": "application/json", ...Object.fromEntries(kept) };
}

/** Both signatures of a delivery, made now (D48). */
function signed(body: string, eventId: string, secret: string | undefined): Record<string, string> {
  const ids = { "x-webhook-id": eventId, "webhook-id": eventId };
  if (secret === undefined) return ids;
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const own = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const standard = createHmac("sha256", key).update(`${eventId}.${timestamp}.${body}`);
  return {
    ...ids,
    "x-webhook-timestamp": timestamp,
    "x-webhook-signature": `t=${timestamp},v1=${own}`,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${standard.digest("base64")}`,
  };
}
