import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { connectAccount, forgetAll, hmac, INVALID } from "./support/inbound-senders.ts";
import type { Headers } from "./support/inbound-senders.ts";
import { startProviderHarness } from "./support/provider-harness.ts";
import type { ProviderHarness } from "./support/provider-harness.ts";

const ADDRESS = "https://workflows.example/webhooks/hubspot?app=a%40b";
const SIGNED_ADDRESS = "https://workflows.example/webhooks/hubspot?app=a@b";
/** Two of each, as while one is replaced. */
const SECRETS = {
  airwallex: "airwallex-old, airwallex-new",
  hubspot: "hubspot-old,hubspot-new",
  finance: "finance-old,finance-new",
};
let harness: ProviderHarness;
beforeAll(async () => {
  harness = await startProviderHarness(SECRETS);
});
afterAll(() => harness?.close());
beforeEach(() => forgetAll(harness));

/** How each provider signs; a path, a body with one event of an account, and the headers. */
const PROVIDERS = {
  airwallex: {
    path: "airwallex",
    bodyOf: (account: string, id: string, type: string) =>
      JSON.stringify({ id, name: type, account_id: account, data: { object: { amount: 7 } } }),
    sign: (body: string, secret: string, at = Date.now()): Headers => {
      return [
        ["x-timestamp", String(at)],
        ["x-signature", hmac(secret, `${at}${body}`)],
      ];
    },
    data: { object: { amount: 7 } },
  },
  hubspot: {
    path: "hubspot?app=a%40b",
    bodyOf: (account: string, id: string, type: string) =>
      JSON.stringify([{ eventId: id, subscriptionType: type, portalId: account }]),
    sign: (body: string, secret: string, at = Date.now()): Headers => {
      return [
        ["x-forwarded-proto", "https"],
        ["x-forwarded-host", "workflows.example"],
        ["x-hubspot-request-timestamp", String(at)],
        ["x-hubspot-signature-v3", hmac(secret, `POST${SIGNED_ADDRESS}${body}${at}`, "base64")],
      ];
    },
    data: expect.objectContaining({ subscriptionType: expect.any(String) }),
  },
  finance: {
    path: "finance",
    bodyOf: (account: string, id: string, type: string) =>
      JSON.stringify({ id, type, externalAccountId: account, data: { total: 9 } }),
    sign: (body: string, secret: string, at = Date.now()): Headers => {
      const t = Math.floor(at / 1000);
      return [["x-finance-signature", `t=${t},v1=${hmac(secret, `${t}.${body}`)}`]];
    },
    data: { total: 9 },
  },
} as const;
const NAMES = ["airwallex", "hubspot", "finance"] as const;
type Name = (typeof NAMES)[number];

function send(name: Name, body: string, headers: Headers) {
  return harness.post(PROVIDERS[name].path, body, headers);
}

describe.each(NAMES)("events of %s", (name) => {
  const { bodyOf, sign, data } = PROVIDERS[name];

  it("that either secret has signed start the runs of each company with the account, once", async () => {
    const [account, type] = [newUuid(), newUuid()];
    const companies = [
      connectAccount(harness, name, account),
      connectAccount(harness, name, account),
    ];
    connectAccount(harness, name, newUuid());
    for (const secret of [`${name}-old`, `${name}-new`]) {
      const body = bodyOf(account, `evt_${secret}`, type);
      const answers = [await send(name, body, sign(body, secret))];
      answers.push(await send(name, body, sign(body, secret)));
      const accepted = { status: 200, body: { received: true, count: 2 } };
      expect(answers).toEqual([accepted, accepted]);
    }
    const started = harness.started.map(({ companyId, inputJson }) => ({
      companyId,
      input: JSON.parse(inputJson),
    }));
    const input = { eventType: type, externalEventId: `evt_${name}-old`, data };
    expect(started).toHaveLength(4);
    expect(started).toEqual(
      expect.arrayContaining(companies.map((companyId) => ({ companyId, input }))),
    );
    const rows = await harness.recorded(type);
    expect(rows.map(({ signature, status }) => `${signature} ${status}`)).toEqual(
      Array.from({ length: 4 }, () => "verified processed"),
    );
  });

  it("that are forged, old, early or unsigned are refused and recorded, and claim no id", async () => {
    const [account, id, type] = [newUuid(), newUuid(), newUuid()];
    const company = connectAccount(harness, name, account);
    const body = bodyOf(account, id, type);
    const genuine = sign(body, `${name}-new`);
    const [signature] = genuine.slice(-1);
    const forged: Headers[] = [
      sign(body, "wrong"),
      sign(`${body} `, `${name}-new`),
      sign(body, `${name}-new`, Date.now() - 310_000),
      sign(body, `${name}-new`, Date.now() + 310_000),
      [...genuine, signature ?? ["x", "x"]],
      genuine.map(([header, value]) => [header, value.slice(0, -1)]),
    ];
    for (const headers of forged) expect(await send(name, body, headers)).toEqual(INVALID);
    expect(await send(name, body, [])).toEqual(INVALID);
    expect(harness.started).toEqual([]);
    const rows = await harness.recorded(type);
    expect(rows.map(({ signature: known }) => known)).toEqual([
      ...forged.map(() => "failed"),
      "skipped",
    ]);
    expect(new Set(rows.map((row) => row.company))).toEqual(new Set([company]));
    expect(await send(name, body, genuine)).toEqual({
      status: 200,
      body: { received: true, count: 1 },
    });
  });

  it("of an account that nobody has connected are recorded and start nothing", async () => {
    const type = newUuid();
    const body = bodyOf(newUuid(), newUuid(), type);
    const answer = await send(name, body, sign(body, `${name}-new`));
    expect(answer).toEqual({ status: 200, body: { received: true, count: 0 } });
    expect(await harness.recorded(type)).toMatchObject([{ company: null, status: "ignored" }]);
    expect(harness.started).toEqual([]);
  });

  it("that cannot be read are an invalid payload", async () => {
    const bodies = [
      "",
      "null",
      '"text"',
      "{",
      '{"a":1},"all":{}',
      '[1],"all":[{}]',
      '{"a":"\\u0000"}',
      `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
      `{"data":${"[".repeat(64)}${"]".repeat(64)}}`,
      "[1]",
    ];
    for (const body of bodies) {
      const answer = await send(name, body, sign(body, `${name}-new`));
      expect({ body: body.slice(0, 20), answer }).toEqual({
        body: body.slice(0, 20),
        answer: { status: 400, body: { error: "Invalid payload" } },
      });
    }
  });
});

it("events of one body are told apart: HubSpot gives the same id to those of several portals", async () => {
  const accounts = ["101", "102"];
  const companies = accounts.map((account) => connectAccount(harness, "hubspot", account));
  const events = accounts.map((account) => ({
    eventId: 1,
    portalId: Number(account),
    subscriptionType: "deal.creation",
  }));
  const body = JSON.stringify(events);
  const answer = await send("hubspot", body, PROVIDERS.hubspot.sign(body, "hubspot-new"));
  expect(answer.body).toEqual({ received: true, count: 2 });
  const told = harness.started.map(({ companyId, inputJson }) => [
    companyId,
    JSON.parse(inputJson),
  ]);
  expect(Object.fromEntries(told)).toEqual(
    Object.fromEntries(
      companies.map((company, place) => [
        company,
        { eventType: "deal.creation", externalEventId: "1", data: events[place] },
      ]),
    ),
  );
  expect(ADDRESS).not.toBe(SIGNED_ADDRESS);
});

it("ids of our finance application hold for its account, and a repeat in one body counts once", async () => {
  const companies = ["F-a", "F-b"].map((account) => connectAccount(harness, "finance", account));
  const [first, second] = ["F-a", "F-b"].map((account) =>
    PROVIDERS.finance.bodyOf(account, "same", "t"),
  );
  const body = `[${first},${second},${first}]`;
  const answer = await send("finance", body, PROVIDERS.finance.sign(body, "finance-new"));
  expect(answer.body).toEqual({ received: true, count: 2 });
  const told = harness.started.map(({ companyId }) => companyId);
  expect(told.toSorted()).toEqual(companies.toSorted());
});

it("numbers and __proto__ keys of a payload come to the run as they were sent", async () => {
  connectAccount(harness, "finance", "F1");
  const data = '{"__proto__":{"x":1},"n":12345678901234567890.10}';
  const body = `{"id":"f1","type":"t","externalAccountId":"F1","data":${data}}`;
  await send("finance", body, PROVIDERS.finance.sign(body, "finance-new"));
  expect(harness.started[0]?.inputJson).toContain(`"data":${data}`);
});

it("without a secret events are taken unverified, unless signatures are required", async () => {
  const [account, type] = [newUuid(), newUuid()];
  connectAccount(harness, "airwallex", account);
  const body = PROVIDERS.airwallex.bodyOf(account, newUuid(), type);
  const lax = await harness.start();
  const strict = await harness.start({ requireSignature: true });
  expect((await harness.post("airwallex", body, [], strict)).status).toBe(401);
  expect(harness.started).toEqual([]);
  const answer = await harness.post("airwallex", body, [], lax);
  expect(answer).toEqual({ status: 200, body: { received: true, count: 1 } });
  const rows = await harness.recorded(type);
  expect(rows.map(({ signature, status }) => `${signature} ${status}`)).toEqual([
    "skipped failed",
    "skipped processed",
  ]);
  const unset = await harness.post("nango", "{}", [], lax);
  expect(unset).toEqual({ status: 500, body: { error: "NANGO_WEBHOOK_SECRET is not set" } });
});
