import { describe, expect, it } from "@jest/globals";
import { ConnectionStatus } from "@workflow/proto/integrations/v1/connections";
import { errorOf } from "./support/harness.ts";
import { asCaller, useConnections } from "./support/connections-bench.ts";

const bench = useConnections();

describe("ListBankAccounts", () => {
  const list = (connectionId: string) =>
    bench.replicas.one.listBankAccounts({ connectionId }, { identity: asCaller });

  it("reads the accounts, with our own credentials beside the connection's", async () => {
    bench.handler = () => ({
      body: { accounts: [{ account_id: "a1" }], item: {}, request_id: "r" },
    });
    const connectionId = await bench.addActive("plaid", { accessToken: "access-canary" });
    const answer = await list(connectionId);
    expect(JSON.parse(answer.accountsJson)).toEqual([{ account_id: "a1" }]);
    expect(answer).toMatchObject({ lastErrorCode: undefined, lastSyncedAt: expect.any(Date) });
    expect(bench.server.requests[0]).toMatchObject({ method: "POST", path: "/accounts/get" });
    expect(JSON.parse(bench.server.requests[0]?.body ?? "")).toMatchObject({
      client_id: "our-id",
      access_token: "access-canary",
    });
  });

  it("tells the code when the bank wants a new sign-in; the connection is expired", async () => {
    const error_message = "access-canary: the login details of this item have changed";
    bench.handler = () => ({
      status: 400,
      body: { error_code: "ITEM_LOGIN_REQUIRED", error_message, error_type: "ITEM_ERROR" },
    });
    const connectionId = await bench.addActive("plaid", { accessToken: "access-canary" });
    expect(await list(connectionId)).toMatchObject({
      accountsJson: "[]",
      lastErrorCode: "ITEM_LOGIN_REQUIRED",
    });
    const { status, errorMessage } = await bench.get(connectionId);
    expect(status).toBe(ConnectionStatus.EXPIRED);
    expect(errorMessage).toBe("••••: the login details of this item have changed");
    // Once the person has signed in again the accounts are there.
    bench.handler = () => ({ body: { accounts: [], item: {}, request_id: "r" } });
    expect(await list(connectionId)).toMatchObject({ lastErrorCode: undefined });
    expect((await bench.get(connectionId)).status).toBe(ConnectionStatus.ACTIVE);
  });

  it.each([
    ["a refusal", 400, "INVALID_API_KEYS"],
    ["a failure", 500, "INTERNAL_SERVER_ERROR"],
  ])(
    "keeps our own credentials to itself where the answer repeats them: %s",
    async (_, status, code) => {
      const error_message = "our-canary-secret for access-canary";
      bench.handler = () => ({ status, body: { error_code: code, error_message } });
      const connectionId = await bench.addActive("plaid", { accessToken: "access-canary" });
      const error = await errorOf(list(connectionId));
      expect(error.message).toContain("•••• for ••••");
      expect(JSON.stringify(error)).not.toContain("canary");
      bench.handler = () => ({
        body: { accounts: [{ name: "our-canary-secret" }], request_id: "r" },
      });
      expect(JSON.parse((await list(connectionId)).accountsJson)).toEqual([{ name: "••••" }]);
    },
  );

  it("answers UPSTREAM_ERROR and changes nothing when the bank's provider does not answer", async () => {
    bench.handler = () => ({ status: 500, body: { error_code: "INTERNAL_SERVER_ERROR" } });
    const connectionId = await bench.addActive("plaid", { accessToken: "access-canary" });
    expect((await errorOf(list(connectionId))).reason).toBe("UPSTREAM_ERROR");
    expect((await bench.get(connectionId)).status).toBe(ConnectionStatus.ACTIVE);
  });
});

describe("what is not the connection's fault", () => {
  it("is not laid to its charge: without our own credentials nothing can be said of it", async () => {
    const connectionId = await bench.addActive("plaid", { accessToken: "access-canary" });
    const settings = new Map([["plaid", { baseUrl: bench.server.url }]]);
    const bare = bench.connectionsOf(await bench.harness.start({ providers: settings }));
    const answer = await bare.verifyConnection({ connectionId }, { identity: asCaller });
    expect(answer).toMatchObject({
      healthy: false,
      connection: { status: ConnectionStatus.ACTIVE, errorMessage: undefined },
      error: expect.stringContaining("is not set up here"),
    });
    expect(bench.server.requests).toEqual([]);
  });
});
