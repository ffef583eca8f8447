import { createHash, createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { createLogger } from "@workflow/service";
import { createDispatcherRoute } from "../src/inbound/dispatcher.ts";
import type { InboundMessage, Intake } from "../src/domain/inbound-message.ts";
import type { InboundRequest } from "../src/inbound/inbound-request.ts";
import type { ProviderHandler } from "../src/inbound/provider-handler.ts";
import { createGithubHandler } from "./support/github-handler.ts";
import { startProviderHarness } from "./support/provider-harness.ts";
import type { ProviderHarness } from "./support/provider-harness.ts";

type Headers = (readonly [string, string])[];

const ADDRESS = "https://workflows.example/webhooks/hubspot?app=a%40b";
const SIGNED_ADDRESS = "https://workflows.example/webhooks/hubspot?app=a@b";
/** Two of each, as while one is replaced. */
const SECRETS = {
  airwallex: "airwallex-old, airwallex-new",
  hubspot: "hubspot-old,hubspot-new",
  finance: "finance-old,finance-new",
  nango: "nango-old,nango-new",
};
const INVALID = { status: 401, body: { error: "Invalid signature" } };

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await startProviderHarness(SECRETS);
});
afterAll(() => harness?.close());
beforeEach(() => {
  harness.connections.length = 0;
  harness.started.length = 0;
  harness.reports.length = 0;
  harness.syncs.length = 0;
  harness.reportError = null;
});

function hmac(secret: string, text: string, encoding: "hex" | "base64" = "hex"): string {
  return createHmac("sha256", secret).update(text).digest(encoding);
}

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

function connect(provider: string, externalAccountId: string, more: object = {}): string {
  const companyId = newUuid();
  const connectionId = newUuid();
  const status = "active";
  harness.connections.push({
    connectionId,
    companyId,
    provider,
    externalAccountId,
    status,
    ...more,
  });
  return companyId;
}

function send(name: Name, body: string, headers: Headers) {
  return harness.post(PROVIDERS[name].path, body, headers);
}

describe.each(NAMES)("events of %s", (name) => {
  const { bodyOf, sign, data } = PROVIDERS[name];

  it("that either secret has signed start the runs of each company with the account, once", async () => {
    const [account, type] = [newUuid(), newUuid()];
    const companies = [connect(name, account), connect(name, account)];
    connect(name, newUuid());
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
    const company = connect(name, account);
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
  const companies = accounts.map((account) => connect("hubspot", account));
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
  const companies = ["F-a", "F-b"].map((account) => connect("finance", account));
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
  connect("finance", "F1");
  const data = '{"__proto__":{"x":1},"n":12345678901234567890.10}';
  const body = `{"id":"f1","type":"t","externalAccountId":"F1","data":${data}}`;
  await send("finance", body, PROVIDERS.finance.sign(body, "finance-new"));
  expect(harness.started[0]?.inputJson).toContain(`"data":${data}`);
});

it("without a secret events are taken unverified, unless signatures are required", async () => {
  const [account, type] = [newUuid(), newUuid()];
  connect("airwallex", account);
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

describe("what the OAuth broker sends", () => {
  const named = { integrationId: "slack", brokerConnectionId: "broker-1" };
  const wrap = (more: object) =>
    JSON.stringify({
      from: "slack",
      providerConfigKey: "slack",
      connectionId: "broker-1",
      ...more,
    });
  const sendSigned = (body: string, more: Headers = []) =>
    harness.post("nango", body, [["x-nango-hmac-sha256", hmac("nango-new", body)], ...more]);

  it("is refused unless it is signed, by either scheme", async () => {
    const body = wrap({ type: "other" });
    const older = createHash("sha256").update(`nango-old${body}`).digest("hex");
    const taken = { status: 200, body: { received: true, eventId: null, workflowsTriggered: 0 } };
    expect(await sendSigned(body)).toEqual(taken);
    expect(await harness.post("nango", body, [["x-nango-signature", older]])).toEqual(taken);
    const forged: Headers[] = [
      [],
      [["x-nango-hmac-sha256", hmac("wrong", body)]],
      [["x-nango-hmac-sha256", older]],
      [["x-nango-signature", hmac("nango-new", body)]],
      [
        ["x-nango-hmac-sha256", hmac("nango-new", body)],
        ["x-nango-hmac-sha256", hmac("nango-new", body)],
      ],
    ];
    for (const headers of forged)
      expect(await harness.post("nango", body, headers)).toEqual(INVALID);
    const broken = await sendSigned("{");
    expect(broken).toEqual({ status: 400, body: { error: "Invalid JSON" } });
  });

  it("of a provider's events starts runs of the connection's company, and of that provider only", async () => {
    const companyId = connect("slack", "T1", named);
    connect("slack", "T1");
    const event = {
      type: "event_callback",
      event_id: "Ev1",
      event: { type: "message", text: "hi" },
    };
    const body = wrap({ type: "forward", payload: event });
    const [first, again] = [await sendSigned(body), await sendSigned(body)];
    expect(first).toMatchObject({ status: 200, body: { received: true, workflowsTriggered: 1 } });
    expect(again).toEqual(first);
    expect(harness.started).toMatchObject([
      { companyId, source: { $case: "provider", value: "slack" } },
    ]);
    expect(JSON.parse(harness.started[0]?.inputJson ?? "")).toEqual({
      eventType: "message",
      externalEventId: "Ev1",
      data: event,
    });
  });

  it("as a batch is one event an element, and a sender's key makes a repeat of each", async () => {
    connect("slack", "T1", named);
    const payload = [{ type: "a" }, { type: "b" }];
    const body = wrap({ type: "webhook", payload });
    const key: Headers = [["idempotency-key", newUuid()]];
    const [first, again] = [await sendSigned(body, key), await sendSigned(body, key)];
    expect(first.body).toMatchObject({ workflowsTriggered: 2 });
    expect(again).toEqual(first);
    expect(harness.started).toHaveLength(2);
    // Without a key nothing says that it is the same.
    await sendSigned(body);
    expect(harness.started).toHaveLength(4);
  });

  it("of a connection that is unknown, ended or another provider's starts nothing and is recorded", async () => {
    connect("slack", "T1", { ...named, status: "expired" });
    connect("stripe", "T1", { ...named, brokerConnectionId: "broker-2" });
    const type = newUuid();
    for (const connectionId of ["broker-1", "broker-2", "broker-3", "", 7]) {
      const answer = await sendSigned(wrap({ type: "forward", connectionId, payload: { type } }));
      expect(answer).toMatchObject({ status: 200, body: { workflowsTriggered: 0 } });
    }
    await sendSigned(wrap({ type: "forward", providerConfigKey: "unknown", payload: { type } }));
    expect(harness.started).toEqual([]);
    const rows = await harness.recorded(type);
    expect(rows.map(({ company, status }) => `${company} ${status}`)).toEqual(
      Array.from({ length: 6 }, () => "null ignored"),
    );
  });

  it("of an attempt to connect an account is handed on, and told again when nobody could take it", async () => {
    connect("slack", "T1", named);
    const attempt = newUuid();
    const failure = { type: "oauth", description: "access_denied" };
    const told = { type: "auth", operation: "creation", success: false, error: failure };
    const body = wrap({ ...told, tags: { end_user_id: attempt } });
    harness.reportError = new AppError("UPSTREAM_ERROR", "The broker does not answer.");
    expect((await sendSigned(body)).status).toBe(502);
    harness.reportError = null;
    const answer = await sendSigned(body);
    expect(answer).toMatchObject({ status: 200, body: { received: true } });
    expect(harness.reports[1]).toEqual({
      ...named,
      endUserId: attempt,
      success: false,
      error: "access_denied",
      operation: "creation",
    });
    // Older versions say whom it is for elsewhere; of nobody's it is taken, too.
    const unknown = { type: "auth", connectionId: "broker-9", endUser: { endUserId: attempt } };
    expect((await sendSigned(wrap(unknown))).status).toBe(200);
    expect(harness.reports[2]).toMatchObject({ endUserId: attempt, success: true });
  });

  it("of a synchronisation is handed on when it has succeeded", async () => {
    connect("slack", "T1", named);
    await sendSigned(wrap({ type: "sync", success: false }));
    expect(harness.syncs).toEqual([]);
    await sendSigned(wrap({ type: "sync", success: true }));
    expect(harness.syncs).toEqual([{ ...named, syncedAt: undefined }]);
  });
});

describe("a handler of another provider", () => {
  const accepted: InboundMessage[] = [];
  const intake: Intake = {
    async accept(message) {
      accepted.push(message);
      return { eventId: "evt_1", workflowsTriggered: 3 };
    },
    async refuse() {
      // Nothing is kept here.
    },
  };
  const logger = createLogger({ name: "test", level: "silent" });
  const context = { intake, requireSignature: true, logger };
  const requestOf = (body: string, headers: Headers): InboundRequest => ({
    path: "github",
    query: new URLSearchParams(),
    url: "https://workflows.example/webhooks/github",
    headers: new Map(headers.map(([name, value]) => [name, [value]])),
    rawBody: Buffer.from(body),
    requestId: "r",
    receivedAt: new Date(),
  });

  it("is a file with four functions", async () => {
    const route = createDispatcherRoute(context, createGithubHandler(["shared"]));
    const body = '{"action":"opened","installation":{"id":42}}';
    const headers: Headers = [
      ["x-hub-signature-256", `sha256=${hmac("shared", body)}`],
      ["x-github-event", "issues"],
      ["x-github-delivery", "d-1"],
    ];
    const answer = await route(requestOf(body, headers));
    expect(answer).toEqual({ status: 200, body: { received: true, count: 3 } });
    expect(accepted).toMatchObject([
      { provider: "github", receivers: { accountIds: ["42"] }, externalEventId: "d-1" },
    ]);
    expect((await route(requestOf(`${body} `, headers))).status).toBe(401);
  });

  it("that throws while it verifies ends in a verification error", async () => {
    const broken: ProviderHandler<never> = {
      provider: "broken",
      verify() {
        throw new Error("no key");
      },
      parse: () => [],
      accountsOf: () => [],
      normalise: () => ({ eventType: null, externalEventId: null, dataJson: "null" }),
    };
    const answer = await createDispatcherRoute(context, broken)(requestOf("{}", []));
    expect(answer).toEqual({ status: 500, body: { error: "Verification error" } });
  });
});
