import { describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import type { DoubleHandler, DoubleResponse } from "@workflow/testkit";
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

describe("credentials that the provider refuses", () => {
  const refuse: DoubleHandler = () => ({
    status: 401,
    body: { error: { code: "bad_key", message: `Invalid API Key: ${encodeURIComponent(TOKEN)}` } },
  });

  const renewed = (): DoubleResponse => ({
    body: { access_token: "fresh_canary", refresh_token: "rt_canary_2", token_type: "bearer" },
  });

  it("put the connection into error; nobody is told them", async () => {
    bench.handler = () => ({
      status: 401,
      body: { statusCode: 401, name: "invalid_api_key", message: "re_canary is no key" },
    });
    const identity = runsOf();
    const connectionId = await bench.harness.connect(identity.companyId, resend);
    const failure = failureOf(await bench.client.executeAction(listContacts, { identity }));
    expect(failure).toMatchObject({
      code: "CREDENTIALS_REFUSED",
      message: "Resend refuses the credentials of the connection: •••• is no key",
      retryable: false,
      details: { provider: "resend", connectionId, status: 401, code: "invalid_api_key" },
    });
    const key = { companyId: identity.companyId, connectionId };
    // The provider's words belong to the step: they may repeat its inputs to readers of the connection.
    expect(await bench.harness.statusOf(key)).toEqual({
      status: "error",
      errorMessage: "Resend refused the credentials when a step used them.",
    });
    const call = { ...listContacts, connection: { stepConnectionId: connectionId } };
    const next = await bench.client.executeAction(call, { identity });
    expect(failureOf(next)).toMatchObject({ code: "CONNECTION_NOT_ACTIVE" });
    expect(bench.server.requests).toHaveLength(1);
  });

  it("in words that cannot be stored as they are put it into error all the same", async () => {
    bench.handler = () => ({ status: 401, body: { name: "n\0", message: "no\0key" } });
    const identity = runsOf();
    const connectionId = await bench.harness.connect(identity.companyId, resend);
    const failure = failureOf(await bench.client.executeAction(listContacts, { identity }));
    expect(failure).toMatchObject({ code: "CREDENTIALS_REFUSED", details: { code: "n\uFFFD" } });
    const key = { companyId: identity.companyId, connectionId };
    expect(await bench.harness.statusOf(key)).toMatchObject({ status: "error" });
  });

  it("of a connection that was deleted meanwhile fail the step, and are no fault of ours", async () => {
    bench.handler = async (request, response) => {
      await bench.harness.database.query(sql.unsafe`delete from integrations.connections`);
      return refuse(request, response);
    };
    const identity = runsOf();
    const connectionId = await bench.harness.connect(identity.companyId, stripe);
    const failure = failureOf(await bench.client.executeAction(getCustomer(), { identity }));
    expect(failure).toMatchObject({ code: "CONNECTION_NOT_FOUND", details: { connectionId } });
  });

  it("are renewed once, and the call is made again; all who were refused share that", async () => {
    bench.handler = (request, response) =>
      request.headers.authorization === "Bearer fresh_canary"
        ? { body: { id: "cus_1" } }
        : refuse(request, response);
    let renewals = 0;
    bench.answerToken = () => {
      renewals += 1;
      return renewed();
    };
    const identity = runsOf();
    const connectionId = await bench.harness.connect(identity.companyId, stripe);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => bench.client.executeAction(getCustomer(), { identity })),
    );
    expect(answers.map(outputOf)).toEqual(answers.map(() => ({ id: "cus_1" })));
    expect(renewals).toBe(1);
    const key = { companyId: identity.companyId, connectionId };
    expect(await bench.harness.statusOf(key)).toMatchObject({ status: "active" });
  });

  it("that were renewed and are refused again put the connection into error", async () => {
    bench.handler = refuse;
    bench.answerToken = renewed;
    const identity = runsOf();
    const connectionId = await bench.harness.connect(identity.companyId, stripe);
    const failure = failureOf(await bench.client.executeAction(getCustomer(), { identity }));
    expect(failure.code).toBe("CREDENTIALS_REFUSED");
    expect(bench.tokensSeen()).toEqual([`Bearer ${TOKEN}`, undefined, "Bearer fresh_canary"]);
    const key = { companyId: identity.companyId, connectionId };
    expect(await bench.harness.statusOf(key)).toMatchObject({ status: "error" });
  });

  it("and whose authorization has ended make the connection expired", async () => {
    bench.handler = refuse;
    bench.answerToken = () => ({ status: 400, body: { error: "invalid_grant" } });
    const identity = runsOf();
    const connectionId = await bench.harness.connect(identity.companyId, stripe);
    failureOf(await bench.client.executeAction(getCustomer(), { identity }));
    const key = { companyId: identity.companyId, connectionId };
    expect(await bench.harness.statusOf(key)).toMatchObject({ status: "expired" });
  });

  it("leave a connection alone while nobody renews them, and the step may try again", async () => {
    bench.handler = refuse;
    bench.answerToken = () => ({ status: 503 });
    const identity = runsOf();
    const connectionId = await bench.harness.connect(identity.companyId, stripe);
    const failure = failureOf(await bench.client.executeAction(getCustomer(), { identity }));
    expect(failure).toMatchObject({ code: "CREDENTIALS_REFUSED", retryable: true });
    const key = { companyId: identity.companyId, connectionId };
    expect(await bench.harness.statusOf(key)).toMatchObject({ status: "active" });
  });

  it("leave a connection alone that has other ones by now", async () => {
    const identity = runsOf();
    const { companyId } = identity;
    const connectionId = await bench.harness.connect(companyId, resend);
    bench.handler = async () => {
      await bench.harness.replaceCredentials(
        { companyId, connectionId },
        { apiKey: "re_new_canary" },
      );
      return { status: 401, body: { name: "invalid_api_key", message: "no" } };
    };
    failureOf(await bench.client.executeAction(listContacts, { identity }));
    expect(await bench.harness.statusOf({ companyId, connectionId })).toMatchObject({
      status: "active",
    });
  });
});
