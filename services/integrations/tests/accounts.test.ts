import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { AccountsServiceService } from "@workflow/proto/integrations/v1/accounts";
import type { ReportBrokerAuthorizationRequest } from "@workflow/proto/integrations/v1/accounts";
import { AuthorizationsServiceService } from "@workflow/proto/integrations/v1/authorizations";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { startHttpDouble, startNangoDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, NangoDouble } from "@workflow/testkit";
import { z } from "zod";
import { CALLER_SCOPES, startAccountHarness } from "./support/account-harness.ts";
import type { AccountHarness } from "./support/account-harness.ts";
import { errorOf, newIdentity } from "./support/harness.ts";

const TOPIC = "projects/ours/topics/mail";
const AS_WEBHOOKS: Identity = {
  companyId: "00000000-0000-0000-0000-000000000000",
  principal: { type: "service", id: "webhooks" },
  scopes: ["internal:accounts"],
};
const sessionBody = z.object({ tags: z.object({ end_user_id: z.string() }) });
const connectionState = z.object({
  status: z.string(),
  account: z.string().nullable(),
  error: z.string().nullable(),
  syncedAt: z.date().nullable(),
  subscription: z.string().nullable(),
  audited: z.number(),
});

let nango: NangoDouble;
/** The provider's API: Gmail. */
let api: HttpDouble;
let accounts: AccountHarness;
let client: RpcClient<typeof AccountsServiceService>;
let authorizations: RpcClient<typeof AuthorizationsServiceService>;
/** What Gmail answers to the question for events. */
let watchStatus = 200;

beforeAll(async () => {
  nango = await startNangoDouble(["google-mail", "slack"]);
  api = await startHttpDouble(({ path }) => {
    if (path.endsWith("/watch")) {
      const error = { message: "No such topic", errors: [{ reason: "notFound" }] };
      return { status: watchStatus, body: watchStatus === 200 ? { historyId: "1" } : { error } };
    }
    return { body: { emailAddress: "ada@example.com" } };
  });
  accounts = await startAccountHarness();
  const { grpcAddress: address } = await accounts.harness.start({
    broker: { baseUrl: nango.url, secretKey: nango.secretKey },
    providers: new Map([["google-mail", { baseUrl: api.url, eventsTarget: TOPIC }]]),
  });
  const { tokens } = accounts.harness;
  const asWebhooks = tokens.serviceMinterTo("integrations", "webhooks");
  client = createRpcClient(AccountsServiceService, { address, minter: asWebhooks });
  const minter = tokens.minterTo("integrations");
  authorizations = createRpcClient(AuthorizationsServiceService, { address, minter });
});
afterAll(async () => {
  client?.close();
  authorizations?.close();
  await accounts?.close();
  for (const double of [api, nango]) await double?.close();
});
beforeEach(() => {
  nango.trouble = null;
  nango.requests.length = 0;
  api.requests.length = 0;
  watchStatus = 200;
});

/** An attempt of a company of its own to connect Gmail, and the id by which the broker knows it. */
async function begin() {
  const identity = newIdentity(CALLER_SCOPES);
  const { connectionId } = await authorizations.beginAuthorization(
    { provider: "google-mail", publicOrigin: "https://workflows.example", fields: {} },
    { identity },
  );
  const session = nango.requests.find(({ path }) => path === "/connect/sessions");
  const { tags } = sessionBody.parse(JSON.parse(session?.body ?? ""));
  return { identity, connectionId, attemptId: tags.end_user_id };
}

/** What the broker keeps once the person has agreed there. */
function approve(attemptId: string): string {
  const brokerId = newUuid();
  nango.connections.push({
    id: nango.connections.length + 1,
    connectionId: brokerId,
    integration: "google-mail",
    tags: { end_user_id: attemptId },
    accessToken: `broker-token-${brokerId}`,
    connectionConfig: {},
    exhausted: false,
    refreshes: 0,
  });
  return brokerId;
}

function report(told: Partial<ReportBrokerAuthorizationRequest>) {
  return client.reportBrokerAuthorization(
    {
      brokerConnectionId: newUuid(),
      integrationId: "google-mail",
      endUserId: "",
      success: true,
      error: "",
      operation: "creation",
      ...told,
    },
    { identity: AS_WEBHOOKS },
  );
}

function stateOf(connectionId: string) {
  return accounts.harness.database.one(sql.type(connectionState)`
    select
      status, external_account_id as "account", error_message as "error", last_synced_at as "syncedAt",
      subscription_error as "subscription",
      (
        select count(*)::integer from integrations.outbox
        where payload::text like '%connection.authorized%' and payload::text like ${`%${connectionId}%`}
      ) as "audited"
    from integrations.connections
    where id = ${connectionId}
  `);
}

function find(provider: string, externalAccountIds: readonly string[]) {
  return client.findAccounts(
    { provider, externalAccountIds: [...externalAccountIds] },
    { identity: AS_WEBHOOKS },
  );
}

it("an account is found for each company that has connected it, once, and not when it is inactive", async () => {
  const account = newUuid();
  const { identity, connectionId } = await accounts.connect({
    provider: "slack",
    externalAccountId: account,
  });
  await accounts.connect({ provider: "slack", externalAccountId: account, identity });
  const other = await accounts.connect({ provider: "slack", externalAccountId: account });
  const ended = await accounts.connect({ provider: "slack", externalAccountId: account });
  await accounts.connect({ provider: "stripe", externalAccountId: account });
  await accounts.harness.database.query(sql.type(z.object({}))`
    update integrations.connections set status = 'expired' where id = ${ended.connectionId}
  `);
  const { connections } = await find("slack", [account, account, newUuid(), "a\0b"]);
  const found = { provider: "slack", externalAccountId: account, status: "active" };
  expect(connections).toEqual([
    { ...found, companyId: identity.companyId, connectionId },
    { ...found, companyId: other.companyId, connectionId: other.connectionId },
  ]);
});

it("accounts are found for the webhooks service only, 100 at a time", async () => {
  const { harness } = accounts;
  const { grpcAddress: address } = await harness.start();
  const minter = harness.tokens.minterTo("integrations");
  const asCaller = createRpcClient(AccountsServiceService, { address, minter });
  const request = { provider: "slack", externalAccountIds: ["T1"] };
  const identity = newIdentity(["internal:accounts", "connections:read"]);
  const refused = await errorOf(asCaller.findAccounts(request, { identity }));
  expect(refused.reason).toBe("FORBIDDEN");
  asCaller.close();
  for (const count of [0, 101]) {
    const ids = Array.from({ length: count }, (_, place) => String(place));
    expect((await errorOf(find("slack", ids))).reason).toBe("BAD_REQUEST");
  }
});

it("a reported success makes a pending connection active, once, however often it comes", async () => {
  const { connectionId, attemptId, identity } = await begin();
  const brokerConnectionId = approve(attemptId);
  const told = { brokerConnectionId, endUserId: attemptId };
  const [first, ...others] = await Promise.all([report(told), report(told), report(told)]);
  expect(first).toEqual({
    connectionId,
    companyId: identity.companyId,
    provider: "google-mail",
    externalAccountId: "ada@example.com",
    status: "active",
  });
  expect(others).toEqual([first, first]);
  expect(await report(told)).toEqual(first);
  expect(await stateOf(connectionId)).toMatchObject({ status: "active", audited: 1 });
  const named = { integrationId: "google-mail", brokerConnectionId };
  expect(await client.findBrokerConnection(named, { identity: AS_WEBHOOKS })).toEqual(first);
});

it("a reported success that the broker itself does not confirm changes nothing", async () => {
  const { connectionId, attemptId } = await begin();
  const refused = await errorOf(report({ endUserId: attemptId }));
  expect(refused.reason).toBe("UPSTREAM_ERROR");
  expect(await stateOf(connectionId)).toMatchObject({ status: "pending", error: null, audited: 0 });
});

it("a reported failure puts a pending connection into error, and the person may try again", async () => {
  const { connectionId, attemptId } = await begin();
  const failed = { endUserId: attemptId, success: false, error: "access_denied \0" };
  expect(await report(failed)).toMatchObject({ status: "error", connectionId });
  const { error } = await stateOf(connectionId);
  expect(error).toContain("access_denied");
  approve(attemptId);
  // The broker is asked at most once a second.
  const again = await report({ endUserId: attemptId });
  expect(again).toMatchObject({ status: "active", connectionId });
  expect(await report(failed)).toMatchObject({ status: "active" });
});

it("a report about an attempt of another integration, or about none of ours, is not found", async () => {
  const { connectionId, attemptId } = await begin();
  approve(attemptId);
  const forged = [
    { endUserId: attemptId, integrationId: "slack" },
    { endUserId: newUuid() },
    { endUserId: "x'; drop table" },
    { endUserId: "", operation: "refresh", success: false },
    { endUserId: "", brokerConnectionId: "a\0b" },
  ];
  for (const told of forged) expect((await errorOf(report(told))).reason).toBe("NOT_FOUND");
  expect(await stateOf(connectionId)).toMatchObject({ status: "pending" });
});

it("a renewal that the broker reports to have failed expires the connection only when the broker says so again", async () => {
  const { attemptId, connectionId } = await begin();
  const brokerConnectionId = approve(attemptId);
  await report({ endUserId: attemptId, brokerConnectionId });
  const told = { brokerConnectionId, operation: "refresh", success: false };
  expect(await report(told)).toMatchObject({ status: "active", connectionId });
  const kept = nango.connections.find((each) => each.connectionId === brokerConnectionId);
  if (kept !== undefined) kept.exhausted = true;
  expect(await report(told)).toMatchObject({ status: "expired", connectionId });
});

it("a synchronisation is noted, never back in time and never ahead of it", async () => {
  const { attemptId, connectionId } = await begin();
  const brokerConnectionId = approve(attemptId);
  await report({ endUserId: attemptId, brokerConnectionId });
  const { syncedAt: before } = await stateOf(connectionId);
  const sync = (syncedAt: Date) =>
    client.reportBrokerSync(
      { brokerConnectionId, integrationId: "google-mail", syncedAt },
      { identity: AS_WEBHOOKS },
    );
  await sync(new Date(0));
  expect((await stateOf(connectionId)).syncedAt).toEqual(before);
  await sync(new Date("2999-01-01T00:00:00Z"));
  const { syncedAt: after } = await stateOf(connectionId);
  expect(after?.getTime()).toBeGreaterThan(before?.getTime() ?? 0);
  expect(after?.getTime()).toBeLessThan(Date.now() + 60_000);
});

it("a provider that has to be asked for events is asked, and its refusal leaves the connection active", async () => {
  watchStatus = 404;
  const credentials = { accessToken: "token-of-mailbox" };
  const asked = await accounts.connect({ provider: "google-mail", credentials });
  const silent = await accounts.connect({ provider: "slack", credentials });
  // Looks around as it begins.
  await accounts.harness.start({
    providers: new Map([["google-mail", { baseUrl: api.url, eventsTarget: TOPIC }]]),
  });
  await waitFor(async () => {
    const { subscription, status } = await stateOf(asked.connectionId);
    expect({ subscription, status }).toEqual({ subscription: "No such topic", status: "active" });
  });
  const watches = api.requests.filter(
    ({ path, headers }) =>
      path === "/gmail/v1/users/me/watch" &&
      headers.authorization === `Bearer ${credentials.accessToken}`,
  );
  expect(watches.map(({ body }): unknown => JSON.parse(body))).toEqual([{ topicName: TOPIC }]);
  expect(await stateOf(silent.connectionId)).toMatchObject({ subscription: null });
});
