import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AuthorizationsServiceService } from "@workflow/proto/integrations/v1/authorizations";
import {
  ConnectionsServiceService,
  ConnectionStatus,
} from "@workflow/proto/integrations/v1/connections";
import { createRpcClient } from "@workflow/rpc";
import type { RpcClient } from "@workflow/rpc";
import { openKeyRing } from "@workflow/sealing";
import { startHttpDouble, startOAuthDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble, OAuthDouble } from "@workflow/testkit";
import { z } from "zod";
import { createConnectionAccess } from "../src/connections/access.ts";
import type { AuthorizationFlow } from "../src/connections/authorization-flow.ts";
import type { ConnectionKey } from "../src/domain/connection-key.ts";
import type { LoginTokens } from "../src/connections/login-tokens.ts";
import { sealCredentials } from "../src/encryption/sealed-credentials.ts";
import type { RunningService } from "../src/service.ts";
import { insertConnection } from "../src/store/connections.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
const nothing = z.object({});
const identity = newIdentity(["connections:read", "connections:write"]);
const { companyId } = identity;
const gateway = {
  identity: {
    companyId,
    principal: { type: "service", id: "gateway" },
    scopes: ["internal:authorizations"],
  },
} as const;

let oauth: OAuthDouble;
let api: HttpDouble;
let handler: DoubleHandler;
let harness: Harness;
/** One that waits for nobody, and never asks beside another callback. */
let hasty: RunningService;
let patient: RunningService;
const clients: { close(): void }[] = [];

beforeAll(async () => {
  oauth = await startOAuthDouble({ ...CLIENT, issuer: "https://accounts.google.com" });
  api = await startHttpDouble((request, response) => handler(request, response));
  harness = await startHarness({
    providers: new Map([
      ["google-mail", { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: api.url }],
      ["rillet", { baseUrl: api.url }],
    ]),
  });
  hasty = await harness.start({ callbackWaits: { forOutcomeMs: 200, toAskMs: -1 } });
  patient = await harness.start();
});
beforeEach(() => {
  handler = () => ({ body: { emailAddress: "ada@example.com" } });
  oauth.requests.length = 0;
});
afterAll(async () => {
  for (const client of clients) client.close();
  // Whoever waits for its answer is let go.
  await api?.close();
  await harness?.close();
  await oauth?.close();
});

function authorizationsOf({ grpcAddress: address }: RunningService) {
  const minter = harness.tokens.minterTo("integrations");
  const client: RpcClient<typeof AuthorizationsServiceService> = createRpcClient(
    AuthorizationsServiceService,
    { address, minter },
  );
  clients.push(client);
  return client;
}

/** An attempt whose person is about to come back; the parameters of the way back. */
async function beginAndVisit() {
  await harness.database.query(sql.type(nothing)`delete from integrations.connections`);
  const begun = await authorizationsOf(patient).beginAuthorization(
    { provider: "google-mail", publicOrigin: "https://workflows.example", fields: {} },
    { identity },
  );
  const back = await oauth.visit(begun.authUrl);
  return { provider: "google-mail", params: Object.fromEntries(back.searchParams) };
}

it("a callback beside one that goes on for ever is told to come again; nobody asks twice", async () => {
  const callback = await beginAndVisit();
  await harness.database.query(sql.type(nothing)`
    update integrations.authorization_attempts
    set confirming_until = now() + interval '1 hour', tries = 1
  `);
  expect(await authorizationsOf(hasty).completeAuthorization(callback, gateway)).toMatchObject({
    error: "being_confirmed",
    message: expect.stringMatching(/again in a moment/),
  });
  expect(oauth.requests.filter(({ method }) => method === "POST")).toEqual([]);
});

it("a callback with too little time left to ask by itself is told to come again, and then succeeds", async () => {
  const callback = await beginAndVisit();
  expect(await authorizationsOf(hasty).completeAuthorization(callback, gateway)).toMatchObject({
    error: "being_confirmed",
  });
  expect(oauth.requests.filter(({ method }) => method === "POST")).toEqual([]);
  const { error } = await authorizationsOf(patient).completeAuthorization(callback, gateway);
  expect(error).toBeUndefined();
});

async function addActive(provider: string): Promise<ConnectionKey> {
  const key = { companyId, connectionId: newId("conn_") };
  const context = { database: harness.database, ring: await openRing() };
  const credentials = await sealCredentials(context, key, { apiKey: "key", clientId: "client" });
  const connection = {
    ...key,
    name: provider,
    provider,
    status: "active",
    externalAccountId: null,
    fields: {},
    metadataJson: null,
    credentials,
  } as const;
  await harness.database.transaction((transaction) =>
    insertConnection(transaction, connection, 1_000),
  );
  return key;
}

function openRing() {
  return openKeyRing(harness.database, "integrations", () => Promise.resolve([harness.kek]));
}

it("a verification ends before its caller's time, whoever does not answer", async () => {
  const { connectionId } = await addActive("rillet");
  handler = () => new Promise(() => {});
  const client = createRpcClient(ConnectionsServiceService, {
    address: patient.grpcAddress,
    minter: harness.tokens.minterTo("integrations"),
  });
  clients.push(client);
  const answer = await client.verifyConnection({ connectionId }, { identity, timeoutMs: 9_000 });
  expect(answer).toMatchObject({
    healthy: false,
    error: expect.stringMatching(/did not answer in time/),
    connection: { status: ConnectionStatus.ACTIVE },
  });
});

/** Nothing that these tests do is renewed by OAuth. */
const NO_FLOW: AuthorizationFlow = {
  requireAvailable: () => {},
  begin: () => Promise.reject(new Error("not here")),
  refresh: () => Promise.reject(new Error("not here")),
  revoke: () => Promise.reject(new Error("not here")),
};

it("a connection that is deleted or changed during its login is not used as it was before", async () => {
  const key = await addActive("airwallex");
  const { database } = harness;
  let during: (database: Database) => Promise<unknown> = () => Promise.resolve();
  let logins = 0;
  const logIn: LoginTokens["addToken"] = async (_provider, connection) => {
    logins += 1;
    await during(database);
    const credentials = { ...connection.credentials, accessToken: `token-${connection.version}` };
    return { ...connection, credentials };
  };
  const access = createConnectionAccess({
    database,
    ring: await openRing(),
    flow: NO_FLOW,
    tokens: { addToken: logIn, replaceToken: logIn },
    renewals: new Map(),
  });
  during = async () => {
    during = () => Promise.resolve();
    await database.query(sql.type(nothing)`
      update integrations.connections
      set credentials_version = credentials_version + 1
      where id = ${key.connectionId}
    `);
    access.forget(key.connectionId);
  };
  const changed = await access.getAccess(companyId, key.connectionId);
  expect(changed.credentials["accessToken"]).toBe("token-2");
  expect(logins).toBe(2);

  access.forget(key.connectionId);
  during = async () => {
    await database.query(sql.type(nothing)`
      delete from integrations.connections where id = ${key.connectionId}
    `);
    access.forget(key.connectionId);
  };
  const error = await errorOf(access.getAccess(companyId, key.connectionId));
  expect(error.reason).toBe("NOT_FOUND");
});
