import { createHmac, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import { InboundEventStatus, SignatureVerified } from "@workflow/proto/webhooks/v1/events";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { verifyStandardWebhooks } from "../src/inbound/providers/verify-standard-webhooks.ts";
import { verifyStripe } from "../src/inbound/providers/verify-stripe.ts";
import { callerOf, post, startInboundHarness } from "./support/inbound-harness.ts";
import type { InboundHarness } from "./support/inbound-harness.ts";

const STRIPE_SECRET = "whsec_old";
const RESEND_SECRET = `whsec_${Buffer.from("a secret of resend").toString("base64")}`;
const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

let harness: InboundHarness;
beforeAll(async () => {
  harness = await startInboundHarness({
    inboundSecrets: { stripe: `whsec_new, ${STRIPE_SECRET}`, resend: RESEND_SECRET },
  });
});
afterAll(async () => {
  await harness?.[Symbol.asyncDispose]();
});

function stripeSignature(body: string, ageSeconds = 0, secret = STRIPE_SECRET): string {
  const time = Math.floor(Date.now() / 1000) - ageSeconds;
  const digest = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  return `t=${time},v1=${digest}`;
}

function sendStripe(body: string, signature = stripeSignature(body)) {
  return harness.post("stripe", body, { ...JSON_TYPE, "stripe-signature": signature });
}

function stripeEvent(account: string, id = `evt_${randomUUID()}`): string {
  return `{"id":"${id}","type":"charge.succeeded","account":"${account}","data":{"object":{"amount":1.50}}}`;
}

function newAccount(companyIds: readonly string[]): string {
  const account = `acct_${randomUUID()}`;
  for (const companyId of companyIds) harness.accounts.add("stripe", account, companyId);
  return account;
}

describe("the payments route", () => {
  it("starts the workflows of each company that has connected the account, and answers their sum", async () => {
    const companyIds = [randomUUID(), randomUUID()];
    const answer = await sendStripe(stripeEvent(newAccount(companyIds), "evt_1"));
    expect(answer).toMatchObject({ status: 200, body: { received: true, workflowsTriggered: 2 } });
    for (const companyId of companyIds) {
      const [event, ...others] = await harness.list(companyId);
      expect(others).toEqual([]);
      expect(event).toMatchObject({
        provider: "stripe",
        eventType: "charge.succeeded",
        eventId: "evt_1",
        signatureVerified: SignatureVerified.VERIFIED,
        status: InboundEventStatus.PROCESSED,
      });
      const received = harness.runs.received.find((one) => one.companyId === companyId);
      expect(received?.source).toEqual({ $case: "provider", value: "stripe" });
      expect(received?.inputJson).toBe(
        '{"eventType":"charge.succeeded","externalEventId":"evt_1","data":{"object":{"amount":1.50}}}',
      );
    }
  });

  it("answers a repeat like the first one, and starts nothing", async () => {
    const companyId = randomUUID();
    const event = stripeEvent(newAccount([companyId]));
    const first = await sendStripe(event);
    const second = await sendStripe(event, stripeSignature(event, 1));
    expect(second.body).toEqual(first.body);
    expect(await harness.list(companyId)).toHaveLength(1);
  });

  it("records an event of nobody and triggers nothing", async () => {
    for (const body of [stripeEvent("acct_of_nobody"), "{}"]) {
      expect(await sendStripe(body)).toMatchObject({
        status: 200,
        body: { eventId: expect.stringMatching(/^evt_/), workflowsTriggered: 0 },
      });
    }
  });

  it.each<[string, (body: string) => string]>([
    ["another secret", (body) => stripeSignature(body, 0, "guessed")],
    ["another body", (body) => stripeSignature(`${body} `)],
    ["a time long ago", (body) => stripeSignature(body, 301)],
    ["a time to come", (body) => stripeSignature(body, -310)],
    ["two times", (body) => `t=1,${stripeSignature(body)}`],
    ["half a signature", (body) => stripeSignature(body).slice(0, -32)],
    ["none behind 1,000 others", (body) => `${"v1=00,".repeat(1_000)}${stripeSignature(body)}`],
    ["no scheme", () => "nonsense"],
  ])("refuses %s, and keeps the event's id for the real one", async (_what, signatureOf) => {
    const companyId = randomUUID();
    const body = stripeEvent(newAccount([companyId]));
    const forged = await sendStripe(body, signatureOf(body));
    expect(forged).toMatchObject({ status: 401, body: { error: "Invalid signature" } });
    const [event] = await harness.list(companyId);
    expect(event).toMatchObject({
      status: InboundEventStatus.FAILED,
      signatureVerified: SignatureVerified.FAILED,
      workflowsTriggered: [],
    });
    const replay = harness.events.replayInboundEvent(
      { eventId: event?.id ?? "" },
      callerOf(companyId),
    );
    await expect(replay).rejects.toMatchObject({ reason: "INVALID_STATE" });
    expect((await sendStripe(body)).body["workflowsTriggered"]).toBe(1);
  });

  it("refuses and records what is not signed", async () => {
    const companyId = randomUUID();
    const body = stripeEvent(newAccount([companyId]));
    const answer = await harness.post("stripe", body, JSON_TYPE);
    expect(answer).toMatchObject({ status: 401, body: { error: "Missing signature" } });
    const [event] = await harness.list(companyId);
    expect(event).toMatchObject({
      status: InboundEventStatus.FAILED,
      signatureVerified: SignatureVerified.SKIPPED,
    });
  });

  it("records what is signed wrong though nobody can read it", async () => {
    expect(await sendStripe("{", stripeSignature("["))).toMatchObject({ status: 401 });
    const database = await openDatabase({
      connectionUri: harness.databaseUrl,
      applicationName: "test",
    });
    const refused = await database.any(sql.type(z.object({ companyId: z.string().nullable() }))`
      select company_id as "companyId" from webhooks.inbound_events
      where provider = 'stripe' and event_type is null and signature_verified = 'failed'
    `);
    await database.end();
    expect(refused).toEqual([{ companyId: null }]);
  });

  it("refuses what is no JSON", async () => {
    expect(await sendStripe("{")).toMatchObject({ status: 400, body: { error: "Invalid JSON" } });
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    expect(await sendStripe(deep)).toMatchObject({ status: 400, body: { error: "Invalid JSON" } });
    const typed = { "content-type": "text/plain", "stripe-signature": stripeSignature("{}") };
    expect(await harness.post("stripe", "{}", typed)).toMatchObject({ status: 415 });
  });

  it("finds the owner later when integrations is away, and starts nothing twice", async () => {
    const companyIds: string[] = [randomUUID(), randomUUID()];
    const event = stripeEvent(newAccount(companyIds));
    harness.accounts.isAway = true;
    const answer = await sendStripe(event);
    harness.accounts.isAway = false;
    expect(answer).toMatchObject({ status: 200, body: { workflowsTriggered: 0 } });
    const isOfCompanies = ({ companyId }: { companyId: string }): boolean =>
      companyIds.includes(companyId);
    await waitFor(() => harness.runs.runCount(isOfCompanies) === 2);
    await waitFor(async () => (await sendStripe(event)).body["workflowsTriggered"] === 2);
    expect(harness.runs.runCount(isOfCompanies)).toBe(2);
  });

  it("takes an event again that came before its account was connected", async () => {
    const account = newAccount([]);
    const event = stripeEvent(account);
    expect((await sendStripe(event)).body["workflowsTriggered"]).toBe(0);
    harness.accounts.add("stripe", account, randomUUID());
    const repeats = await Promise.all([sendStripe(event), sendStripe(event)]);
    expect(repeats.map(({ body }) => body["workflowsTriggered"])).toEqual([1, 1]);
    expect(new Set(repeats.map(({ body }) => body["eventId"])).size).toBe(1);
  });

  it("verifies nothing without a secret, unless signatures are required", async () => {
    const companyId = randomUUID();
    const open = await harness.startAnother({ inboundSecrets: {} });
    const body = stripeEvent(newAccount([companyId]));
    expect(await post(open.httpAddress, "stripe", body)).toMatchObject({
      status: 200,
      body: { workflowsTriggered: 1 },
    });
    const [event] = await harness.list(companyId);
    expect(event?.signatureVerified).toBe(SignatureVerified.SKIPPED);
    const strict = await harness.startAnother({ inboundSecrets: {}, requireSignature: true });
    expect(await post(strict.httpAddress, "stripe", stripeEvent("acct_1"))).toMatchObject({
      status: 401,
    });
  });

  it("verifies the way that Stripe describes", () => {
    // Made with `printf '1492774577.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test_secret`.
    const signature = "799c4ba7bb339f3c8601adfd112f0e477c930a268be1243d341abb8286501c2f";
    const request = {
      headers: new Map([["stripe-signature", [`t=1492774577,v1=${signature},v0=6ffbb59b`]]]),
      rawBody: Buffer.from('{"id":"evt_1"}'),
      receivedAt: new Date(1_492_774_577_000 + 299_000),
    };
    expect(verifyStripe(request, ["other", "whsec_test_secret"])).toBe("verified");
    expect(verifyStripe(request, ["other"])).toBe("failed");
    const late = { ...request, receivedAt: new Date(1_492_774_577_000 + 301_000) };
    expect(verifyStripe(late, ["whsec_test_secret"])).toBe("failed");
  });
});

describe("the e-mail route", () => {
  function sendResend(body: string, prefix: "svix" | "webhook", id = `msg_${randomUUID()}`) {
    const time = Math.floor(Date.now() / 1000);
    const key = Buffer.from(RESEND_SECRET.slice("whsec_".length), "base64");
    const digest = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
    return harness.post("resend", body, {
      ...JSON_TYPE,
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: String(time),
      [`${prefix}-signature`]: `v1,bm9uc2Vuc2U= v1,${digest}`,
    });
  }

  it.each(["svix", "webhook"] as const)(
    "gives an e-mail to the companies of its recipients' addresses and domains (%s- headers)",
    async (prefix) => {
      const [byDomain, byAddress, other] = [randomUUID(), randomUUID(), randomUUID()];
      harness.accounts.add("resend", `${byDomain}.example`, byDomain);
      harness.accounts.add("resend", `orders@${byAddress}.example`, byAddress);
      harness.accounts.add("resend", `${other}.example`, other);
      const to = [`Ann <ann@${byDomain}.EXAMPLE>`];
      const data = {
        email_id: "1",
        from: `x@${other}.example`,
        to,
        cc: [`orders@${byAddress}.example`],
      };
      const body = JSON.stringify({ type: "email.received", data });
      const id = `msg_${randomUUID()}`;
      const answer = await sendResend(body, prefix, id);
      expect(answer).toMatchObject({ status: 200, body: { workflowsTriggered: 2 } });
      for (const companyId of [byDomain, byAddress]) {
        const [event] = await harness.list(companyId);
        expect(event).toMatchObject({
          eventType: "email.received",
          eventId: id,
          provider: "resend",
        });
      }
      expect(await harness.list(other)).toEqual([]);
      expect((await sendResend(body, prefix, id)).body).toEqual(answer.body);
    },
  );

  it("refuses another signature, and two of a header", async () => {
    const headers = { "svix-id": "msg_1", "svix-timestamp": String(Math.floor(Date.now() / 1000)) };
    const forged = { ...JSON_TYPE, ...headers, "svix-signature": `v1,${"A".repeat(43)}=` };
    expect(await harness.post("resend", "{}", forged)).toMatchObject({ status: 401 });
    const request = {
      headers: new Map([["svix-signature", ["v1,a", "v1,b"]]]),
      rawBody: Buffer.from("{}"),
      receivedAt: new Date(),
    };
    expect(() => verifyStandardWebhooks(request, [RESEND_SECRET])).toThrow("must be sent once");
  });

  it("verifies the example of the scheme's documentation", () => {
    const request = {
      headers: new Map([
        ["svix-id", ["msg_p5jXN8AQM9LWM0D4loKWxJek"]],
        ["svix-timestamp", ["1614265330"]],
        ["svix-signature", ["v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="]],
      ]),
      rawBody: Buffer.from('{"test": 2432232314}'),
      receivedAt: new Date(1_614_265_330_000),
    };
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    expect(verifyStandardWebhooks(request, [secret])).toBe("verified");
  });
});
