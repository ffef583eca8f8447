import { createHmac } from "node:crypto";
import { expect } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { Resource } from "../../support/route-requests.ts";
import { createActive, runToEnd } from "../../support/scenarios.ts";
import { makeWebhookEvent } from "../../support/webhook-events.ts";
import type { WholeSystem } from "../../support/whole-system.ts";
import type { Evidence } from "../evidence.ts";
import { newCore } from "../finder.ts";
import type { Hide } from "../hide.ts";

/** What the tour of webhooks goes with. */
export interface WebhooksTour {
  client: WholeSystem;
  evidence: Evidence;
  hide: Hide;
  settings: Readonly<Record<string, string>>;
  worldUrl: string;
  /** No secret. */
  note: string;
}

const withId = z.looseObject({ id: z.string() });
const deliveries = z.array(z.looseObject({ id: z.string(), attemptCount: z.number() }));
const PATH = "canary-orders";

/** Sends and receives webhooks, with a secret in whatever is not to be kept of them; ids of some of it. */
export async function tourWebhooks(tour: WebhooksTour): Promise<Partial<Record<Resource, string>>> {
  await sendInbound(tour);
  const webhookEndpoint = await deliver(tour);
  return { webhookEndpoint, webhookEvent: await makeWebhookEvent(tour.client, tour.client.acme) };
}

/** One of every provider, signed and forged, and one for a workflow that waits. */
async function sendInbound({ client, hide, settings, note }: WebhooksTour): Promise<void> {
  const trigger = { type: "webhook", path: PATH };
  await createActive(client, { trigger, steps: [] });
  const custom = await post(client, `custom/${client.acme.id}/${PATH}`, JSON.stringify({ note }), {
    authorization: `Bearer ${hide("bearer of an inbound webhook")}`,
    cookie: `wfs_session=${hide("cookie of an inbound webhook")}`,
    "x-api-key": hide("key of an inbound webhook"),
    "x-hub-token": hide("token of an inbound webhook"),
    "proxy-authorization": `Basic ${hide("proxy's password of an inbound webhook")}`,
  });
  expect(custom).toBe(200);
  const at = Math.floor(Date.now() / 1000);
  const event = {
    id: "evt_1",
    type: "invoice.paid",
    account: "acct_1",
    data: { object: { note } },
  };
  const body = JSON.stringify(event);
  const sign = (secret = ""): string =>
    `t=${at},v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`;
  const signed = { "stripe-signature": sign(settings["STRIPE_WEBHOOK_SECRET"]) };
  expect(await post(client, "stripe", body, signed)).toBe(200);
  expect(await post(client, "stripe", body, { "stripe-signature": sign("forged") })).toBe(401);
  for (const provider of ["resend", "airwallex", "hubspot", "finance", "nango", "nobody"]) {
    await post(client, provider, body, { "x-finance-signature": sign("forged") });
    await post(client, provider, `{"cut": "${note}`, {});
  }
}

async function post(
  { origin }: WholeSystem,
  path: string,
  body: string,
  headers: Record<string, string>,
): Promise<number> {
  const response = await fetch(`${origin}/webhooks/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

/** To receivers that repeat what they get: with success, with a failure, and half of it. */
async function deliver({ client, evidence, worldUrl }: WebhooksTour): Promise<string> {
  const workflowId = await createActive(client);
  const made: string[] = [];
  for (const how of ["ok", "refuse", "cut"]) {
    const core = newCore();
    // Whoever may read an endpoint sees its headers.
    evidence.hide({ name: `header of an endpoint (${how})`, core, shownIn: SHOWS_HEADERS });
    const body = {
      name: how,
      url: `${worldUrl}/world/${how}`,
      workflowIds: [workflowId],
      headers: { authorization: `Bearer ${core}`, "x-token": core },
    };
    const { data } = await client.call("POST", "/webhook-endpoints", { body });
    made.push(withId.parse(data).id);
  }
  await runToEnd(client, workflowId);
  for (const id of made) {
    const path = `/webhook-endpoints/${id}`;
    await client.call("POST", `${path}/rotate-secret`);
    await client.call("POST", `${path}/test`, { body: { eventType: "workflow.failed" } });
    const attempted = await waitFor(async () => {
      const { data } = await client.call("GET", `${path}/deliveries`);
      const list = deliveries.parse(data);
      const isDone = list.length > 1 && list.every(({ attemptCount }) => attemptCount > 0);
      return isDone ? list : null;
    });
    for (const delivery of attempted) await client.call("GET", `${path}/deliveries/${delivery.id}`);
  }
  return made[0] ?? "";
}

/** The answers of the endpoint itself. */
const SHOWS_HEADERS =
  /^(REST answers: (GET|POST|PUT) \S*\/webhook-endpoints(\/whe_\w+(\/rotate-secret)?)? |gRPC answers: \S*\/(List|Get)Endpoints?$)/;
