import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newId, newUuid, sql } from "@workflow/db";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, DoubleResponse, HttpDouble } from "@workflow/testkit";
import {
  failureOf,
  outputOf,
  runsOf,
  startActionsHarness,
  stepCall,
} from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness, TestConnection } from "./support/actions-harness.ts";

const TOKEN = "canary/token+1";

let harness: ActionsHarness;
let client: ActionsClient;
let server: HttpDouble;
let handler: DoubleHandler;
/** What the authorization server answers, test by test. */
let answerToken: () => DoubleResponse;

beforeAll(async () => {
  server = await startHttpDouble((request, response) =>
    request.path === "/oauth/token" ? answerToken() : handler(request, response),
  );
  harness = await startActionsHarness();
  const application = { clientId: "ca_1", clientSecret: "canary-secret", oauthBaseUrl: server.url };
  client = await harness.start({
    providers: new Map([
      ["stripe", { baseUrl: server.url, ...application }],
      ["resend", { baseUrl: server.url }],
    ]),
  });
});
beforeEach(() => {
  handler = () => ({ body: { id: "cus_1" } });
  answerToken = () => ({ status: 500 });
  server.requests.length = 0;
});
/** Last, whatever the order of the cases: there are lines of all of them to look at. */
afterAll(() => {
  expect(harness.logged()).toContain("ActionsService/ExecuteAction");
  expect(harness.logged()).not.toContain("canary");
});
afterAll(async () => {
  await harness.close();
  await server.close();
});

const stripe: TestConnection = {
  provider: "stripe",
  credentials: { accessToken: TOKEN, refreshToken: "rt_canary" },
};
const resend: TestConnection = { provider: "resend", credentials: { apiKey: "re_canary" } };

function getCustomer(named: { step?: string; run?: string } = {}, more: object = {}) {
  return stepCall({
    action: "stripe.getCustomer",
    inputsJson: '{"customer":"cus_1"}',
    connection: {
      ...(named.step === undefined ? {} : { stepConnectionId: named.step }),
      ...(named.run === undefined ? {} : { runConnectionId: named.run }),
    },
    ...more,
  });
}

const listContacts = stepCall({ action: "resend.listContacts", inputsJson: "{}" });

function tokensSeen(): (string | undefined)[] {
  return server.requests.map(({ headers }) => headers.authorization);
}

describe("the connection of a step", () => {
  it.each(["disconnected", "abandoned"] as const)("is gone once it is %s", async (status) => {
    const identity = runsOf();
    const ended = await harness.connect(identity.companyId, { ...stripe, status });
    for (const named of [{ step: ended }, { run: ended }]) {
      const answer = await client.executeAction(getCustomer(named), { identity });
      expect(failureOf(answer)).toMatchObject({
        code: "CONNECTION_NOT_FOUND",
        retryable: false,
        details: { connectionId: ended },
      });
    }
    expect(server.requests).toEqual([]);
  });

  it("is the only active one of the provider where none is named", async () => {
    const identity = runsOf();
    await harness.connect(identity.companyId, stripe);
    await harness.connect(identity.companyId, { ...stripe, status: "expired" });
    await harness.connect(identity.companyId, resend);
    outputOf(await client.executeAction(getCustomer(), { identity }));
    expect(tokensSeen()).toEqual([`Bearer ${TOKEN}`]);
  });

  it("is the run's where the step names none, if it is one of the provider", async () => {
    const identity = runsOf();
    const { companyId } = identity;
    const run = await harness.connect(companyId, { ...stripe, credentials: { accessToken: "r" } });
    await harness.connect(companyId, stripe);
    const mail = await harness.connect(companyId, resend);
    outputOf(await client.executeAction(getCustomer({ run }), { identity }));
    expect(tokensSeen()).toEqual(["Bearer r"]);
    const other = failureOf(await client.executeAction(getCustomer({ run: mail }), { identity }));
    expect(other.code).toBe("CONNECTION_REQUIRED");
  });

  it("is the step's own before all others", async () => {
    const identity = runsOf();
    const { companyId } = identity;
    const run = await harness.connect(companyId, stripe);
    const step = await harness.connect(companyId, { ...stripe, credentials: { accessToken: "s" } });
    outputOf(await client.executeAction(getCustomer({ step, run }), { identity }));
    expect(tokensSeen()).toEqual(["Bearer s"]);
  });

  it("has to be named where several could be meant; the failure lists them", async () => {
    const identity = runsOf();
    const first = await harness.connect(identity.companyId, { ...stripe, name: "Shop" });
    const second = await harness.connect(identity.companyId, { ...stripe, name: "Shop 2" });
    expect(failureOf(await client.executeAction(getCustomer(), { identity }))).toMatchObject({
      code: "CONNECTION_REQUIRED",
      message: expect.stringContaining(`Shop (${first}), Shop 2 (${second})`),
      retryable: false,
      details: {
        provider: "stripe",
        candidates: [
          { id: first, name: "Shop" },
          { id: second, name: "Shop 2" },
        ],
      },
    });
  });

  it("is missing where the company has none", async () => {
    const answer = await client.executeAction(getCustomer(), { identity: runsOf() });
    expect(failureOf(answer)).toMatchObject({
      code: "CONNECTION_REQUIRED",
      message: "The company has no active connection of Stripe.",
      details: { candidates: [] },
    });
  });

  it.each([
    ["unknown", () => newId("conn_")],
    ["of no form", () => "nonsense"],
    ["another company's", () => harness.connect(newUuid(), stripe)],
  ])("does not exist when it is %s", async (_, make) => {
    const identity = runsOf();
    await harness.connect(identity.companyId, stripe);
    const id = await make();
    for (const named of [{ step: id }, { run: id }]) {
      const failure = failureOf(await client.executeAction(getCustomer(named), { identity }));
      expect(failure).toMatchObject({ code: "CONNECTION_NOT_FOUND", retryable: false });
    }
    expect(server.requests).toEqual([]);
  });

  it("must be one of the action's provider, and active", async () => {
    const identity = runsOf();
    const mail = await harness.connect(identity.companyId, resend);
    const wrong = failureOf(await client.executeAction(getCustomer({ step: mail }), { identity }));
    expect(wrong).toMatchObject({
      code: "CONNECTION_MISMATCH",
      details: { provider: "stripe", connectionProvider: "resend" },
    });
    const expired = await harness.connect(identity.companyId, { ...stripe, status: "expired" });
    const answer = await client.executeAction(getCustomer({ step: expired }), { identity });
    expect(failureOf(answer)).toMatchObject({
      code: "CONNECTION_NOT_ACTIVE",
      details: { connectionId: expired, status: "expired" },
    });
    expect(server.requests).toEqual([]);
  });
});

describe("a run's connection whose credentials cannot be renewed now", () => {
  const ended = { ...stripe, expiresAt: new Date(Date.now() - 60_000) };

  it("fails no step of another provider", async () => {
    const identity = runsOf();
    const run = await harness.connect(identity.companyId, ended);
    await harness.connect(identity.companyId, resend);
    const call = { ...listContacts, connection: { runConnectionId: run } };
    outputOf(await client.executeAction(call, { identity }));
    const own = failureOf(await client.executeAction(getCustomer({ run }), { identity }));
    expect(own).toMatchObject({ code: "CONNECTION_UNAVAILABLE", retryable: true });
  });
});

describe("credentials that the provider refuses", () => {
  const refuse: DoubleHandler = () => ({
    status: 401,
    body: { error: { code: "bad_key", message: `Invalid API Key: ${encodeURIComponent(TOKEN)}` } },
  });

  const renewed = (): DoubleResponse => ({
    body: { access_token: "fresh_canary", refresh_token: "rt_canary_2", token_type: "bearer" },
  });

  it("put the connection into error; nobody is told them", async () => {
    handler = () => ({
      status: 401,
      body: { statusCode: 401, name: "invalid_api_key", message: "re_canary is no key" },
    });
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, resend);
    const failure = failureOf(await client.executeAction(listContacts, { identity }));
    expect(failure).toMatchObject({
      code: "CREDENTIALS_REFUSED",
      message: "Resend refuses the credentials of the connection: •••• is no key",
      retryable: false,
      details: { provider: "resend", connectionId, status: 401, code: "invalid_api_key" },
    });
    const key = { companyId: identity.companyId, connectionId };
    // The words are the step's: they may repeat what it sent to whoever sees the connection.
    expect(await harness.statusOf(key)).toEqual({
      status: "error",
      errorMessage: "Resend refused the credentials when a step used them.",
    });
    const call = { ...listContacts, connection: { stepConnectionId: connectionId } };
    const next = await client.executeAction(call, { identity });
    expect(failureOf(next)).toMatchObject({ code: "CONNECTION_NOT_ACTIVE" });
    expect(server.requests).toHaveLength(1);
  });

  it("in words that cannot be stored as they are put it into error all the same", async () => {
    handler = () => ({ status: 401, body: { name: "n\0", message: "no\0key" } });
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, resend);
    const failure = failureOf(await client.executeAction(listContacts, { identity }));
    expect(failure).toMatchObject({ code: "CREDENTIALS_REFUSED", details: { code: "n\uFFFD" } });
    const key = { companyId: identity.companyId, connectionId };
    expect(await harness.statusOf(key)).toMatchObject({ status: "error" });
  });

  it("of a connection that was deleted meanwhile fail the step, and are no fault of ours", async () => {
    handler = async (request, response) => {
      await harness.database.query(sql.unsafe`delete from integrations.connections`);
      return refuse(request, response);
    };
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    const failure = failureOf(await client.executeAction(getCustomer(), { identity }));
    expect(failure).toMatchObject({ code: "CONNECTION_NOT_FOUND", details: { connectionId } });
  });

  it("are renewed once, and the call is made again; all who were refused share that", async () => {
    handler = (request, response) =>
      request.headers.authorization === "Bearer fresh_canary"
        ? { body: { id: "cus_1" } }
        : refuse(request, response);
    let renewals = 0;
    answerToken = () => {
      renewals += 1;
      return renewed();
    };
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => client.executeAction(getCustomer(), { identity })),
    );
    expect(answers.map(outputOf)).toEqual(answers.map(() => ({ id: "cus_1" })));
    expect(renewals).toBe(1);
    const key = { companyId: identity.companyId, connectionId };
    expect(await harness.statusOf(key)).toMatchObject({ status: "active" });
  });

  it("that were renewed and are refused again put the connection into error", async () => {
    handler = refuse;
    answerToken = renewed;
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    const failure = failureOf(await client.executeAction(getCustomer(), { identity }));
    expect(failure.code).toBe("CREDENTIALS_REFUSED");
    expect(tokensSeen()).toEqual([`Bearer ${TOKEN}`, undefined, "Bearer fresh_canary"]);
    const key = { companyId: identity.companyId, connectionId };
    expect(await harness.statusOf(key)).toMatchObject({ status: "error" });
  });

  it("and whose authorization has ended make the connection expired", async () => {
    handler = refuse;
    answerToken = () => ({ status: 400, body: { error: "invalid_grant" } });
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    failureOf(await client.executeAction(getCustomer(), { identity }));
    const key = { companyId: identity.companyId, connectionId };
    expect(await harness.statusOf(key)).toMatchObject({ status: "expired" });
  });

  it("leave a connection alone while nobody renews them, and the step may try again", async () => {
    handler = refuse;
    answerToken = () => ({ status: 503 });
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    const failure = failureOf(await client.executeAction(getCustomer(), { identity }));
    expect(failure).toMatchObject({ code: "CREDENTIALS_REFUSED", retryable: true });
    const key = { companyId: identity.companyId, connectionId };
    expect(await harness.statusOf(key)).toMatchObject({ status: "active" });
  });

  it("leave a connection alone that has other ones by now", async () => {
    const identity = runsOf();
    const { companyId } = identity;
    const connectionId = await harness.connect(companyId, resend);
    handler = async () => {
      await harness.replaceCredentials({ companyId, connectionId }, { apiKey: "re_new_canary" });
      return { status: 401, body: { name: "invalid_api_key", message: "no" } };
    };
    failureOf(await client.executeAction(listContacts, { identity }));
    expect(await harness.statusOf({ companyId, connectionId })).toMatchObject({ status: "active" });
  });
});

describe("a request of a step's own making", () => {
  it("gets what signs it, and the only origin that it may go to", async () => {
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    const request = { provider: "stripe", connection: undefined, hasTurn: false };
    const { outcome } = await client.authorizeRequest(request, { identity });
    expect(outcome).toMatchObject({
      $case: "authorization",
      value: {
        connectionId,
        provider: "stripe",
        origins: [server.url],
        operatorOrigin: server.url,
        headers: { authorization: `Bearer ${TOKEN}` },
        secrets: expect.arrayContaining([TOKEN]),
      },
    });
  });

  it("needs a provider or a connection", async () => {
    const request = { connection: undefined, hasTurn: false };
    const { outcome } = await client.authorizeRequest(request, { identity: runsOf() });
    expect(failureOf({ outcome })).toMatchObject({ code: "CONNECTION_REQUIRED" });
  });
});

it("what a plan needs is checked for the caller's company only", async () => {
  const companyId = newUuid();
  const own = await harness.connect(companyId, stripe);
  await harness.connect(companyId, stripe);
  const expired = await harness.connect(companyId, { ...resend, status: "expired" });
  const foreign = await harness.connect(newUuid(), resend);
  const identity = {
    companyId,
    principal: { type: "api_key" as const, id: newUuid() },
    scopes: ["workflows:read"],
  };
  const request = {
    providers: ["stripe", "resend"],
    connectionIds: [own, expired, foreign, "nonsense"],
  };
  expect(await client.checkConnections(request, { identity })).toEqual({
    missingProviders: ["resend"],
    missingConnectionIds: [expired, foreign, "nonsense"],
    ambiguousProviders: ["stripe"],
  });
});

it("only the execution plane may call providers or have credentials", async () => {
  const identity = { ...runsOf(), scopes: [] };
  const refused = { reason: "FORBIDDEN" };
  await expect(client.executeAction(getCustomer(), { identity })).rejects.toMatchObject(refused);
  const request = { connection: undefined, hasTurn: false };
  await expect(client.authorizeRequest(request, { identity })).rejects.toMatchObject(refused);
});
