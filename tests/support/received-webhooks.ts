import { createHmac } from "node:crypto";
import { newId, newUuid, sql } from "@workflow/db";
import type { HttpDouble, RecordedRequest } from "@workflow/testkit";
import { z } from "zod";
import type { WholeSystem } from "./whole-system.ts";

/** The fields of an endpoint, and no others. */
export const endpointSchema = z.strictObject({
  id: z.string().regex(/^whe_[0-9a-hjkmnp-tv-z]{26}$/),
  name: z.string(),
  url: z.string(),
  events: z.array(z.string()).nullable(),
  workflowIds: z.array(z.string()).nullable(),
  headers: z.record(z.string(), z.string()),
  description: z.string().nullable(),
  status: z.enum(["active", "disabled"]),
  disabledReason: z.string().nullable(),
  disabledAt: z.iso.datetime().nullable(),
  consecutiveFailures: z.int(),
  rateLimitPerSecond: z.int().nullable(),
  oldSecretExpiresAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
/** The answer to creation and rotation. */
export const endpointWithSecretSchema = endpointSchema.extend({
  secret: z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/),
});
/** The answer to a test. */
export const testResultSchema = z.strictObject({
  success: z.boolean(),
  statusCode: z.int().nullable(),
  responseBody: z.string().nullable(),
  durationMs: z.int(),
  deliveryId: z.string(),
  error: z.string().nullable(),
});
/** The fields of a delivery in lists (D49), and no others. */
export const deliverySchema = z.strictObject({
  id: z.string(),
  endpointId: z.string(),
  eventId: z.string(),
  eventType: z.string(),
  workflowId: z.string().nullable(),
  runId: z.string().nullable(),
  status: z.enum(["pending", "succeeded", "failed"]),
  attemptCount: z.int(),
  maxAttempts: z.int(),
  nextAttemptAt: z.iso.datetime().nullable(),
  lastStatusCode: z.int().nullable(),
  lastError: z.string().nullable(),
  durationMs: z.int().nullable(),
  createdAt: z.iso.datetime(),
  deliveredAt: z.iso.datetime().nullable(),
});
const attemptSchema = z.strictObject({
  number: z.int(),
  at: z.iso.datetime(),
  statusCode: z.int().nullable(),
  durationMs: z.int(),
  error: z.string().nullable(),
  responseBody: z.string().nullable(),
});
/** A delivery by itself. */
export const wholeDeliverySchema = deliverySchema.extend({
  request: z.strictObject({
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string().nullable(),
  }),
  attempts: z.array(attemptSchema),
});
export type EndpointWithSecret = z.output<typeof endpointWithSecretSchema>;

/** An address without a server. */
export const DEAD_URL = "http://127.0.0.1:1/hook";

/** Makes an endpoint of a company, by default at an address without a server. */
export async function makeEndpoint(
  system: Pick<WholeSystem, "call">,
  key: string,
  fields: object = {},
): Promise<EndpointWithSecret> {
  const body = { name: "Receiver", url: DEAD_URL, ...fields };
  const answer = await system.call("POST", "/webhook-endpoints", { key, body });
  return endpointWithSecretSchema.parse(answer.data);
}

/** A delivery after its attempts, for the database: retries wait for hours. */
export interface StoredDelivery {
  endpointId: string;
  status: "pending" | "succeeded" | "failed";
  eventType?: string;
  attemptCount?: number;
  /** The time when a pending delivery is due; far away by default. */
  dueAt?: Date;
}

/** Stores a delivery of acme with its event; returns its id. */
export async function storeDelivery(
  { database, acme }: Pick<WholeSystem, "database" | "acme">,
  { endpointId, status, eventType = "workflow.completed", attemptCount = 8, dueAt }: StoredDelivery,
): Promise<string> {
  const eventId = newId("evt_");
  const deliveryId = newId("whd_");
  const body = JSON.stringify({ id: eventId, type: eventType });
  const due =
    status === "pending" ? (dueAt ?? new Date(Date.now() + 3_600_000)).toISOString() : null;
  await database.query(sql.type(z.object({}))`
    insert into webhooks.outbound_events (
      id, company_id, type, occurred_at, envelope, body, fanned_out_at
    )
    values (${eventId}, ${acme.id}, ${eventType}, now(), '{}', ${body}, now())
  `);
  await database.query(sql.type(z.object({}))`
    insert into webhooks.deliveries (
      id, endpoint_id, company_id, event_id, event_type, status, attempt_count, next_attempt_at,
      body_bytes, delivered_at
    )
    values (
      ${deliveryId}, ${endpointId}, ${acme.id}, ${eventId}, ${eventType}, ${status}, ${attemptCount},
      ${due}::timestamptz, ${Buffer.byteLength(body)},
      case when ${status === "succeeded"} then now() end
    )
  `);
  return deliveryId;
}

/** Makes an endpoint of acme at a receiver, with a path of its own. */
export async function makeReceived(
  system: WholeSystem,
  receiver: HttpDouble,
  fields: object = {},
): Promise<EndpointWithSecret> {
  const url = `${receiver.url}/${newUuid()}`;
  return makeEndpoint(system, system.acme.key, { url, ...fields });
}

/** The requests to the endpoint's path, oldest first. */
export function receivedBy(receiver: HttpDouble, { url }: { url: string }): RecordedRequest[] {
  const { pathname } = new URL(url);
  return receiver.requests.filter(({ path }) => path === pathname);
}

/** Tests an endpoint of acme. */
export async function testEndpoint(
  system: Pick<WholeSystem, "call">,
  endpoint: { id: string },
  body: object = {},
): Promise<z.output<typeof testResultSchema>> {
  const path = `/webhook-endpoints/${endpoint.id}/test`;
  return testResultSchema.parse((await system.call("POST", path, { body })).data);
}

/** A delivery of acme by itself. */
export async function getDelivery(
  system: Pick<WholeSystem, "call">,
  endpointId: string,
  deliveryId: string,
): Promise<z.output<typeof wholeDeliverySchema>> {
  const path = `/webhook-endpoints/${endpointId}/deliveries/${deliveryId}`;
  return wholeDeliverySchema.parse((await system.call("GET", path)).data);
}

/** The contract's signature of a request with one secret. */
export function signatureOf(secret: string, { headers, bodyBytes }: RecordedRequest): string {
  const timestamp = String(headers["x-webhook-timestamp"]);
  const hmac = createHmac("sha256", secret).update(`${timestamp}.`).update(bodyBytes);
  return `v1=${hmac.digest("hex")}`;
}
