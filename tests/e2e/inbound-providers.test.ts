import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { startHttpDouble, startNangoDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, NangoDouble } from "@workflow/testkit";
import { z } from "zod";
import { createActive } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, WholeSystem } from "../support/whole-system.ts";

const RESEND_KEY = Buffer.from("a secret of resend");
const SECRETS = {
  nango: "nango-secret",
  finance: "finance-secret",
  resend: `whsec_${RESEND_KEY.toString("base64")}`,
};
const begun = z.looseObject({ connectionId: z.string(), authUrl: z.url() });
const identified = z.looseObject({ id: z.string() });
const eventList = z.array(
  z.looseObject({
    id: z.string(),
    provider: z.string(),
    eventType: z.string().nullable(),
    signatureVerified: z.string(),
    status: z.string(),
    workflowsTriggered: z.array(z.object({ workflowId: z.string(), runId: z.string() })),
  }),
);

let api: HttpDouble;
let nango: NangoDouble;
let system: WholeSystem;
beforeAll(async () => {
  api = await startHttpDouble(() => ({ body: { ok: true, team_id: "T1", user_id: "U1" } }));
  nango = await startNangoDouble(["slack"]);
  system = await startWholeSystem({
    connecting: {
      broker: { baseUrl: nango.url, secretKey: nango.secretKey },
      providers: new Map([["slack", { baseUrl: api.url }]]),
    },
    webhooks: { inboundSecrets: SECRETS },
  });
});
afterAll(async () => {
  await system?.stop();
  for (const double of [api, nango]) await double?.close();
});

/** An active workflow that waits for a provider's events. */
async function waitingFor(provider: string, company: Company): Promise<string> {
  const { data } = await system.call("POST", "/workflows", {
    key: company.key,
    body: {
      name: `Waits for ${provider}`,
      trigger: { type: "webhook", provider, path: provider },
      steps: [],
    },
  });
  const { id } = identified.parse(data);
  const activated = await system.call("POST", `/workflows/${id}/activate`, { key: company.key });
  expect(activated).toMatchObject({ status: 200 });
  return id;
}

async function post(path: string, body: unknown, sign: (text: string) => Record<string, string>) {
  const text = JSON.stringify(body);
  const response = await fetch(`${system.origin}/webhooks/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...sign(text) },
    body: text,
  });
  return { status: response.status, body: await response.json() };
}

function byNango(text: string): Record<string, string> {
  const digest = createHmac("sha256", SECRETS.nango).update(text).digest("hex");
  return { "x-nango-hmac-sha256": digest };
}

function byFinance(text: string): Record<string, string> {
  const t = Math.floor(Date.now() / 1000);
  const digest = createHmac("sha256", SECRETS.finance).update(`${t}.${text}`).digest("hex");
  return { "x-finance-signature": `t=${t},v1=${digest}` };
}

function byResend(text: string): Record<string, string> {
  const [id, time] = [`msg_${newUuid()}`, Math.floor(Date.now() / 1000)];
  const digest = createHmac("sha256", RESEND_KEY).update(`${id}.${time}.${text}`).digest("base64");
  return { "svix-id": id, "svix-timestamp": String(time), "svix-signature": `v1,${digest}` };
}

async function eventsOf(company: Company) {
  const { data } = await system.call("GET", "/webhook-events", { key: company.key });
  return eventList.parse(data);
}

it("an account that the broker reports becomes active, and its events start runs", async () => {
  const { acme } = system;
  const workflowId = await waitingFor("slack", acme);
  const answer = await system.call("GET", "/connections/slack/auth-url");
  const { connectionId, authUrl } = begun.parse(answer.data);
  const page = await fetch(`${authUrl}/go`, { redirect: "manual" });
  const connected = nango.approve(page.headers.get("location") ?? "");
  const about = { connectionId: connected.connectionId, providerConfigKey: "slack" };
  const report = {
    ...about,
    from: "nango",
    type: "auth",
    operation: "creation",
    success: true,
    tags: connected.tags,
  };
  const reported = await post("nango", report, byNango);
  expect(await post("nango", report, byNango)).toMatchObject({ status: 200 });
  expect(reported).toMatchObject({ status: 200, body: { received: true } });
  expect(await system.call("GET", `/connections/${connectionId}`)).toMatchObject({
    data: { status: "active", externalAccountId: "T1" },
  });
  const payload = { type: "event_callback", event_id: "Ev1", event: { type: "message" } };
  const forward = { ...about, from: "slack", type: "forward", payload };
  const accepted = await post("nango", forward, byNango);
  expect(accepted).toMatchObject({ status: 200, body: { received: true, workflowsTriggered: 1 } });
  expect(await post("nango", forward, byNango)).toEqual(accepted);
  const event = (await eventsOf(acme)).find(({ provider }) => provider === "slack");
  expect(event).toMatchObject({
    eventType: "message",
    signatureVerified: "verified",
    status: "processed",
    workflowsTriggered: [{ workflowId }],
  });
  await waitFor(async () => {
    const path = `/audit-logs?action=connection.authorized&resourceId=${connectionId}`;
    expect((await system.call("GET", path)).data).toHaveLength(1);
  });
  await waitFor(async () => {
    const run = await system.call("GET", `/runs/${event?.workflowsTriggered[0]?.runId ?? ""}`);
    expect(run.data).toMatchObject({
      status: "completed",
      triggerType: "webhook",
      input: { eventType: "message", externalEventId: "Ev1", data: payload },
    });
  });
});

it("an event of the dispatcher starts runs of the company with the account, and of no other", async () => {
  const { acme, globex } = system;
  const account = newUuid();
  await waitingFor("finance", acme);
  const workflowId = await waitingFor("finance", globex);
  const made = await system.call("POST", "/connections", {
    key: globex.key,
    body: { provider: "finance", name: "Ledger", externalAccountId: account },
  });
  expect(made).toMatchObject({ status: 201 });
  const event = { id: newUuid(), type: "invoice.paid", externalAccountId: account, data: {} };
  const forged = await post("finance", event, () => ({ "x-finance-signature": "t=1,v1=00" }));
  expect(forged).toEqual({ status: 401, body: { error: "Invalid signature" } });
  const accepted = await post("finance", event, byFinance);
  expect(accepted).toEqual({ status: 200, body: { received: true, count: 1 } });
  const events = await eventsOf(globex);
  expect(events).toMatchObject([
    { signatureVerified: "verified", status: "processed", workflowsTriggered: [{ workflowId }] },
    { signatureVerified: "failed", status: "failed", workflowsTriggered: [] },
  ]);
  const forgedId = events.find(({ status }) => status === "failed")?.id ?? "";
  const replay = await system.call("POST", `/webhook-events/${forgedId}/replay`, {
    key: globex.key,
  });
  expect(replay).toMatchObject({ status: 400, error: { code: "INVALID_STATE" } });
  const others = (await eventsOf(acme)).filter(({ provider }) => provider === "finance");
  expect(others).toEqual([]);
});

it("an e-mail for nobody's address is received and starts nothing", async () => {
  const data = { email_id: "1", from: "x@other.example", to: ["ann@nobody.example"] };
  expect(await post("resend", { type: "email.received", data }, byResend)).toMatchObject({
    status: 200,
    body: { received: true },
  });
});

it("an address with a slash at its end is the same address", async () => {
  const { acme } = system;
  const trigger = { type: "webhook", path: "orders-7d31" };
  await createActive(system, { trigger }, { key: acme.key });
  expect(await post(`custom/${acme.id}/orders-7d31/`, { order: 1 }, () => ({}))).toMatchObject({
    status: 200,
    body: { workflowsTriggered: 1 },
  });
  expect(await post("finance/", { type: "invoice.paid" }, byFinance)).toMatchObject({
    status: 200,
    body: { received: true },
  });
  expect(await post("nobody/", {}, () => ({}))).toMatchObject({
    status: 404,
    body: { error: "Unknown provider: nobody" },
  });
  expect(await post(`custom/${acme.id}/`, {}, () => ({}))).toMatchObject({ status: 404 });
});

it("a provider without a handler is unknown", async () => {
  expect(await post("nobody", {}, () => ({}))).toEqual({
    status: 404,
    body: { error: "Unknown provider: nobody" },
  });
});
