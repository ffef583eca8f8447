import { describe, expect, it } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import { failureOf, outputOf, runsOf } from "./support/actions-harness.ts";
import {
  getCustomer,
  listContacts,
  resend,
  stripe,
  TOKEN,
  useActions,
} from "./support/actions-bench.ts";

const bench = useActions();

describe("the connection of a step", () => {
  it.each(["disconnected", "abandoned"] as const)("is gone once it is %s", async (status) => {
    const identity = runsOf();
    const ended = await bench.harness.connect(identity.companyId, { ...stripe, status });
    for (const named of [{ step: ended }, { run: ended }]) {
      const answer = await bench.client.executeAction(getCustomer(named), { identity });
      expect(failureOf(answer)).toMatchObject({
        code: "CONNECTION_NOT_FOUND",
        retryable: false,
        details: { connectionId: ended },
      });
    }
    expect(bench.server.requests).toEqual([]);
  });

  it("is the only active one of the provider where none is named", async () => {
    const identity = runsOf();
    await bench.harness.connect(identity.companyId, stripe);
    await bench.harness.connect(identity.companyId, { ...stripe, status: "expired" });
    await bench.harness.connect(identity.companyId, resend);
    outputOf(await bench.client.executeAction(getCustomer(), { identity }));
    expect(bench.tokensSeen()).toEqual([`Bearer ${TOKEN}`]);
  });

  it("is the run's where the step names none, if it is one of the provider", async () => {
    const identity = runsOf();
    const { companyId } = identity;
    const run = await bench.harness.connect(companyId, {
      ...stripe,
      credentials: { accessToken: "r" },
    });
    await bench.harness.connect(companyId, stripe);
    const mail = await bench.harness.connect(companyId, resend);
    outputOf(await bench.client.executeAction(getCustomer({ run }), { identity }));
    expect(bench.tokensSeen()).toEqual(["Bearer r"]);
    const other = failureOf(
      await bench.client.executeAction(getCustomer({ run: mail }), { identity }),
    );
    expect(other.code).toBe("CONNECTION_REQUIRED");
  });

  it("is the step's own before all others", async () => {
    const identity = runsOf();
    const { companyId } = identity;
    const run = await bench.harness.connect(companyId, stripe);
    const step = await bench.harness.connect(companyId, {
      ...stripe,
      credentials: { accessToken: "s" },
    });
    outputOf(await bench.client.executeAction(getCustomer({ step, run }), { identity }));
    expect(bench.tokensSeen()).toEqual(["Bearer s"]);
  });

  it("has to be named where several could be meant; the failure lists them", async () => {
    const identity = runsOf();
    const first = await bench.harness.connect(identity.companyId, { ...stripe, name: "Shop" });
    const second = await bench.harness.connect(identity.companyId, { ...stripe, name: "Shop 2" });
    expect(failureOf(await bench.client.executeAction(getCustomer(), { identity }))).toMatchObject({
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
    const answer = await bench.client.executeAction(getCustomer(), { identity: runsOf() });
    expect(failureOf(answer)).toMatchObject({
      code: "CONNECTION_REQUIRED",
      message: "The company has no active connection of Stripe.",
      details: { candidates: [] },
    });
  });

  it.each([
    ["unknown", () => newId("conn_")],
    ["of no form", () => "nonsense"],
    ["another company's", () => bench.harness.connect(newUuid(), stripe)],
  ])("does not exist when it is %s", async (_, make) => {
    const identity = runsOf();
    await bench.harness.connect(identity.companyId, stripe);
    const id = await make();
    for (const named of [{ step: id }, { run: id }]) {
      const failure = failureOf(await bench.client.executeAction(getCustomer(named), { identity }));
      expect(failure).toMatchObject({ code: "CONNECTION_NOT_FOUND", retryable: false });
    }
    expect(bench.server.requests).toEqual([]);
  });

  it("must be one of the action's provider, and active", async () => {
    const identity = runsOf();
    const mail = await bench.harness.connect(identity.companyId, resend);
    const wrong = failureOf(
      await bench.client.executeAction(getCustomer({ step: mail }), { identity }),
    );
    expect(wrong).toMatchObject({
      code: "CONNECTION_MISMATCH",
      details: { provider: "stripe", connectionProvider: "resend" },
    });
    const expired = await bench.harness.connect(identity.companyId, {
      ...stripe,
      status: "expired",
    });
    const answer = await bench.client.executeAction(getCustomer({ step: expired }), { identity });
    expect(failureOf(answer)).toMatchObject({
      code: "CONNECTION_NOT_ACTIVE",
      details: { connectionId: expired, status: "expired" },
    });
    expect(bench.server.requests).toEqual([]);
  });
});

describe("a run's connection whose credentials cannot be renewed now", () => {
  const ended = { ...stripe, expiresAt: new Date(Date.now() - 60_000) };

  it("fails no step of another provider", async () => {
    const identity = runsOf();
    const run = await bench.harness.connect(identity.companyId, ended);
    await bench.harness.connect(identity.companyId, resend);
    const call = { ...listContacts, connection: { runConnectionId: run } };
    outputOf(await bench.client.executeAction(call, { identity }));
    const own = failureOf(await bench.client.executeAction(getCustomer({ run }), { identity }));
    expect(own).toMatchObject({ code: "CONNECTION_UNAVAILABLE", retryable: true });
  });
});

describe("a request of a step's own making", () => {
  it("gets what signs it, and the only origin that it may go to", async () => {
    const identity = runsOf();
    const connectionId = await bench.harness.connect(identity.companyId, stripe);
    const request = { provider: "stripe", connection: undefined, hasTurn: false };
    const { outcome } = await bench.client.authorizeRequest(request, { identity });
    expect(outcome).toMatchObject({
      $case: "authorization",
      value: {
        connectionId,
        provider: "stripe",
        origins: [bench.server.url],
        operatorOrigin: bench.server.url,
        headers: { authorization: `Bearer ${TOKEN}` },
        secrets: expect.arrayContaining([TOKEN]),
      },
    });
  });

  it("needs a provider or a connection", async () => {
    const request = { connection: undefined, hasTurn: false };
    const { outcome } = await bench.client.authorizeRequest(request, { identity: runsOf() });
    expect(failureOf({ outcome })).toMatchObject({ code: "CONNECTION_REQUIRED" });
  });
});

it("what a plan needs is checked for the caller's company only", async () => {
  const companyId = newUuid();
  const own = await bench.harness.connect(companyId, stripe);
  await bench.harness.connect(companyId, stripe);
  const expired = await bench.harness.connect(companyId, { ...resend, status: "expired" });
  const foreign = await bench.harness.connect(newUuid(), resend);
  const identity = {
    companyId,
    principal: { type: "api_key" as const, id: newUuid() },
    scopes: ["workflows:read"],
  };
  const request = {
    providers: ["stripe", "resend"],
    connectionIds: [own, expired, foreign, "nonsense"],
  };
  expect(await bench.client.checkConnections(request, { identity })).toEqual({
    missingProviders: ["resend"],
    missingConnectionIds: [expired, foreign, "nonsense"],
    ambiguousProviders: ["stripe"],
  });
});

it("only the execution plane may call providers or have credentials", async () => {
  const identity = { ...runsOf(), scopes: [] };
  const refused = { reason: "FORBIDDEN" };
  await expect(bench.client.executeAction(getCustomer(), { identity })).rejects.toMatchObject(
    refused,
  );
  const request = { connection: undefined, hasTurn: false };
  await expect(bench.client.authorizeRequest(request, { identity })).rejects.toMatchObject(refused);
});
