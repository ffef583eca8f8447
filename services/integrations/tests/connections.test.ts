import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { Credentials } from "@workflow/catalog";
import { newId, openDatabase, sql } from "@workflow/db";
import { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import {
  ConnectionsServiceService,
  ConnectionStatus,
} from "@workflow/proto/integrations/v1/connections";
import { createRpcClient } from "@workflow/rpc";
import type { RpcClient } from "@workflow/rpc";
import { openKeyRing, rotateKek } from "@workflow/sealing";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { sealCredentials } from "../src/encryption/sealed-credentials.ts";
import type { RunningService } from "../src/service.ts";
import { insertConnection } from "../src/store/connections.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

type Connections = RpcClient<typeof ConnectionsServiceService>;
type Actions = RpcClient<typeof ActionsServiceService>;

const identity = newIdentity(["connections:read", "connections:write", "internal:effects"]);
const { companyId } = identity;

let harness: Harness;
let server: HttpDouble;
let handler: DoubleHandler;
let providers: Map<string, { baseUrl: string; clientId: string; clientSecret: string }>;
/** Two replicas. */
let one: Connections;
let other: Connections;
/** Calls providers through the first one. */
let actions: Actions;
const clients: { close(): void }[] = [];

beforeAll(async () => {
  server = await startHttpDouble((request, response) => handler(request, response));
  const settings = { baseUrl: server.url, clientId: "our-id", clientSecret: "our-canary-secret" };
  providers = new Map(["rillet", "airwallex", "plaid"].map((id) => [id, settings]));
  harness = await startHarness({ providers });
  const first = await harness.start();
  one = connectionsOf(first);
  other = connectionsOf(await harness.start());
  actions = createRpcClient(ActionsServiceService, {
    address: first.grpcAddress,
    minter: harness.tokens.serviceMinterTo("integrations", "runs"),
  });
  clients.push(actions);
});
beforeEach(() => {
  handler = () => ({ body: { id: "org_1", organizations: [] } });
  server.requests.length = 0;
});
afterAll(async () => {
  for (const client of clients) client.close();
  await harness.close();
  await server.close();
});

function connectionsOf({ grpcAddress: address }: RunningService): Connections {
  const minter = harness.tokens.minterTo("integrations");
  const client = createRpcClient(ConnectionsServiceService, { address, minter });
  clients.push(client);
  return client;
}

async function connectRillet(apiKey: string, connectionId = ""): Promise<string> {
  const request = { provider: "rillet", connectionId, name: "", apiKey, fields: {} };
  const { connection } = await one.connectApiKey(request, { identity: asCaller });
  return connection?.id ?? "";
}

const asCaller = { ...identity, scopes: ["connections:read", "connections:write"] };

/** What a step would do with the connection; the key that the provider saw. */
async function keySeenByAction(connectionId: string, action = "rillet.listCustomers") {
  const before = server.requests.length;
  await actions.executeAction(
    {
      action,
      inputsJson: "{}",
      connection: { stepConnectionId: connectionId },
      idempotencyKey: newId("run_"),
      hasTurn: false,
      hostLimits: [],
    },
    { identity: { companyId, principal: { type: "service", id: "runs" }, scopes: EFFECTS } },
  );
  return server.requests.slice(before).at(-1)?.headers.authorization;
}
const EFFECTS = ["internal:effects"];

/** A connection as an authorization would have left it. */
async function addActive(provider: string, credentials: Credentials): Promise<string> {
  const ring = await openKeyRing(harness.database, "integrations", () =>
    Promise.resolve([harness.kek]),
  );
  const key = { companyId, connectionId: newId("conn_") };
  const sealed = await sealCredentials({ database: harness.database, ring }, key, credentials);
  await harness.database.transaction((transaction) =>
    insertConnection(
      transaction,
      {
        ...key,
        name: provider,
        provider,
        status: "active",
        externalAccountId: null,
        fields: {},
        metadataJson: null,
        credentials: sealed,
      },
      1_000,
    ),
  );
  return key.connectionId;
}

async function get(connectionId: string) {
  return one.getConnection({ connectionId }, { identity: asCaller });
}

describe("what opens an account", () => {
  it("is seen changed by every replica, whoever changes it", async () => {
    const connectionId = await connectRillet("key-1");
    expect(await keySeenByAction(connectionId)).toBe("Bearer key-1");
    const request = { provider: "rillet", connectionId, name: "", apiKey: "key-2", fields: {} };
    await other.connectApiKey(request, { identity: asCaller });
    const seen = async () => (await keySeenByAction(connectionId)) === "Bearer key-2";
    await waitFor(seen);
  });

  it("is seen changed also when nobody hears of changes", async () => {
    const connectionId = await connectRillet("key-3");
    await keySeenByAction(connectionId);
    await harness.database.query(sql.type(z.object({}))`
      alter table integrations.connections disable trigger user
    `);
    try {
      const request = { provider: "rillet", connectionId, name: "", apiKey: "key-4", fields: {} };
      await other.connectApiKey(request, { identity: asCaller });
      const seen = async () => (await keySeenByAction(connectionId)) === "Bearer key-4";
      await waitFor(seen);
    } finally {
      await harness.database.query(sql.type(z.object({}))`
        alter table integrations.connections enable trigger user
      `);
    }
  });

  it("is a token of one login for all who need it, at once and later", async () => {
    let logins = 0;
    handler = ({ path }) => {
      if (!path.endsWith("/login")) return { body: [] };
      logins += 1;
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      return { status: 201, body: { token: `token-${logins}`, expires_at } };
    };
    const connectionId = await addActive("airwallex", { apiKey: "k-1", clientId: "c-1" });
    const call = () => keySeenByAction(connectionId, "airwallex.getBalances");
    await Promise.all(Array.from({ length: 20 }, call));
    expect(logins).toBe(1);
    expect(await call()).toBe("Bearer token-1");
  });
});

describe("credentials at rest", () => {
  it("open after rotate-kek without the old key", async () => {
    const connectionId = await connectRillet("key-of-rotation");
    const next = randomBytes(32);
    const database = await openDatabase({
      connectionUri: harness.databaseUri,
      role: "workflow_integrations",
      applicationName: "test-rotation",
      maxConnections: 2,
    });
    const back = {
      begin: () => Promise.resolve([harness.kek, next]),
      end: () => Promise.resolve(),
    };
    try {
      await rotateKek([{ database: database, schema: "integrations" }], {
        begin: () => Promise.resolve([next, harness.kek]),
        end: () => Promise.resolve(),
      });
      const fresh = await harness.start({ loadKeks: () => Promise.resolve([next]) });
      const answer = await connectionsOf(fresh).verifyConnection(
        { connectionId },
        { identity: asCaller },
      );
      expect(answer.healthy).toBe(true);
      expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer key-of-rotation");
    } finally {
      // The other services of this file know the first key only.
      await rotateKek([{ database: database, schema: "integrations" }], back);
      await database.end();
    }
  });

  it("do not open in the row of another connection", async () => {
    const [from, to] = [await connectRillet("key-from"), await connectRillet("key-to")];
    await harness.database.query(sql.type(z.object({}))`
      update integrations.connections as stolen
      set sealed_credentials = source.sealed_credentials
      from integrations.connections as source
      where stolen.id = ${to} and source.id = ${from}
    `);
    server.requests.length = 0;
    const verifying = one.verifyConnection({ connectionId: to }, { identity: asCaller });
    expect((await errorOf(verifying)).reason).toBe("INTERNAL_ERROR");
    expect(server.requests).toEqual([]);
  });
});

describe("changes at the same time", () => {
  it("a verification that finds old keys bad changes nothing about new ones", async () => {
    const connectionId = await connectRillet("key-old");
    const asked = Promise.withResolvers<void>();
    const replaced = Promise.withResolvers<void>();
    handler = async ({ headers }) => {
      if (headers.authorization !== "Bearer key-old") return { body: { id: "org_1" } };
      asked.resolve();
      await replaced.promise;
      return { status: 401, body: { detail: "no" } };
    };
    const verifying = one.verifyConnection({ connectionId }, { identity: asCaller });
    await asked.promise;
    await connectRillet("key-new", connectionId);
    replaced.resolve();
    const answer = await verifying;
    expect(answer.healthy).toBe(false);
    expect(answer.connection?.status).toBe(ConnectionStatus.ACTIVE);
  });

  it("of ten that end a connection at once exactly one does", async () => {
    const connectionId = await connectRillet("key-to-end");
    const endings = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? one : other).deleteConnection({ connectionId }, { identity: asCaller }),
      ),
    );
    expect(endings.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

describe("ListBankAccounts", () => {
  const list = (connectionId: string) =>
    one.listBankAccounts({ connectionId }, { identity: asCaller });

  it("reads the accounts, with our own credentials beside the connection's", async () => {
    handler = () => ({ body: { accounts: [{ account_id: "a1" }], item: {}, request_id: "r" } });
    const connectionId = await addActive("plaid", { accessToken: "access-canary" });
    const answer = await list(connectionId);
    expect(JSON.parse(answer.accountsJson)).toEqual([{ account_id: "a1" }]);
    expect(answer).toMatchObject({ lastErrorCode: undefined, lastSyncedAt: expect.any(Date) });
    expect(server.requests[0]).toMatchObject({ method: "POST", path: "/accounts/get" });
    expect(JSON.parse(server.requests[0]?.body ?? "")).toMatchObject({
      client_id: "our-id",
      access_token: "access-canary",
    });
  });

  it("tells the code when the bank wants a new sign-in; the connection is expired", async () => {
    const error_message = "access-canary: the login details of this item have changed";
    handler = () => ({
      status: 400,
      body: { error_code: "ITEM_LOGIN_REQUIRED", error_message, error_type: "ITEM_ERROR" },
    });
    const connectionId = await addActive("plaid", { accessToken: "access-canary" });
    expect(await list(connectionId)).toMatchObject({
      accountsJson: "[]",
      lastErrorCode: "ITEM_LOGIN_REQUIRED",
    });
    const { status, errorMessage } = await get(connectionId);
    expect(status).toBe(ConnectionStatus.EXPIRED);
    expect(errorMessage).toBe("••••: the login details of this item have changed");
    // Once the person has signed in again the accounts are there.
    handler = () => ({ body: { accounts: [], item: {}, request_id: "r" } });
    expect(await list(connectionId)).toMatchObject({ lastErrorCode: undefined });
    expect((await get(connectionId)).status).toBe(ConnectionStatus.ACTIVE);
  });

  it.each([
    ["a refusal", 400, "INVALID_API_KEYS"],
    ["a failure", 500, "INTERNAL_SERVER_ERROR"],
  ])(
    "keeps our own credentials to itself where the answer repeats them: %s",
    async (_, status, code) => {
      const error_message = "our-canary-secret for access-canary";
      handler = () => ({ status, body: { error_code: code, error_message } });
      const connectionId = await addActive("plaid", { accessToken: "access-canary" });
      const error = await errorOf(list(connectionId));
      expect(error.message).toContain("•••• for ••••");
      expect(JSON.stringify(error)).not.toContain("canary");
      handler = () => ({ body: { accounts: [{ name: "our-canary-secret" }], request_id: "r" } });
      expect(JSON.parse((await list(connectionId)).accountsJson)).toEqual([{ name: "••••" }]);
    },
  );

  it("answers UPSTREAM_ERROR and changes nothing when the bank's provider does not answer", async () => {
    handler = () => ({ status: 500, body: { error_code: "INTERNAL_SERVER_ERROR" } });
    const connectionId = await addActive("plaid", { accessToken: "access-canary" });
    expect((await errorOf(list(connectionId))).reason).toBe("UPSTREAM_ERROR");
    expect((await get(connectionId)).status).toBe(ConnectionStatus.ACTIVE);
  });
});

describe("what is not the connection's fault", () => {
  it("is not laid to its charge: without our own credentials nothing can be said of it", async () => {
    const connectionId = await addActive("plaid", { accessToken: "access-canary" });
    const settings = new Map([["plaid", { baseUrl: server.url }]]);
    const bare = connectionsOf(await harness.start({ providers: settings }));
    const answer = await bare.verifyConnection({ connectionId }, { identity: asCaller });
    expect(answer).toMatchObject({
      healthy: false,
      connection: { status: ConnectionStatus.ACTIVE, errorMessage: undefined },
      error: expect.stringContaining("is not set up here"),
    });
    expect(server.requests).toEqual([]);
  });
});

describe("a host that a caller enters", () => {
  it.each(["a.example:99999", "1.2.3.256", "a.example.1", "127.0.0.1", "169.254.169.254"])(
    "%s is refused with the name of the field",
    async (domain) => {
      const fields = { domain };
      const request = { provider: "odoo", connectionId: "", name: "", apiKey: "key", fields };
      const error = await errorOf(one.connectApiKey(request, { identity: asCaller }));
      expect(error.reason).toBe("BAD_REQUEST");
      expect(error.violations).toEqual([expect.objectContaining({ path: ["domain"] })]);
    },
  );
});

describe("a field that becomes part of requests", () => {
  it.each([
    ["accountId", "2000:x"],
    ["accountId", "admin"],
    ["accountId", "20 00"],
    ["companyCode", ".."],
    ["companyCode", "."],
    ["companyCode", "C".repeat(26)],
  ])("is refused by its name in the form of another thing: %s %s", async (name, value) => {
    const fields = { accountId: "2000", environment: "sandbox", [name]: value };
    const request = { provider: "avalara", connectionId: "", name: "", apiKey: "key", fields };
    const error = await errorOf(one.connectApiKey(request, { identity: asCaller }));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.violations).toEqual([expect.objectContaining({ path: [name] })]);
    expect(server.requests).toEqual([]);
  });
});

describe("DeleteConnection", () => {
  const remove = (connectionId: string) =>
    one.deleteConnection({ connectionId }, { identity: asCaller });

  it("ends a connection whose credentials do not open any more", async () => {
    const connectionId = await addActive("plaid", { accessToken: "access-canary" });
    await harness.database.query(sql.type(z.object({}))`
      update integrations.connections set sealed_credentials = '\\x00' where id = ${connectionId}
    `);
    await remove(connectionId);
    expect((await get(connectionId)).status).toBe(ConnectionStatus.DISCONNECTED);
  });

  it("removes a connection of a provider that the catalog does not have any more", async () => {
    const connectionId = await addActive("plaid", { accessToken: "access-canary" });
    await harness.database.query(sql.type(z.object({}))`
      update integrations.connections set provider = 'bygone' where id = ${connectionId}
    `);
    await remove(connectionId);
    expect((await errorOf(get(connectionId))).reason).toBe("NOT_FOUND");
  });
});
