import { afterAll, beforeAll, beforeEach } from "@jest/globals";
import type { Credentials } from "@workflow/catalog";
import { newId } from "@workflow/db";
import { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { openKeyRing } from "@workflow/sealing";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble, TestTokens } from "@workflow/testkit";
import { sealCredentials } from "../../src/encryption/sealed-credentials.ts";
import type { RunningService } from "../../src/service.ts";
import { insertConnection } from "../../src/store/connections.ts";
import { newIdentity, startHarness } from "./harness.ts";
import type { Harness } from "./harness.ts";

type Connections = RpcClient<typeof ConnectionsServiceService>;
type Actions = RpcClient<typeof ActionsServiceService>;

/** Somebody of the file's company who may read and write connections. */
export const asCaller = newIdentity(["connections:read", "connections:write"]);
const { companyId } = asCaller;
const asRuns: Identity = {
  companyId,
  principal: { type: "service", id: "runs" },
  scopes: ["internal:effects"],
};

const answerAlike: DoubleHandler = () => ({ body: { id: "org_1", organizations: [] } });

/** Stores a connection as an authorization leaves it; returns its id. */
async function addActive(
  { database, kek }: Harness,
  provider: string,
  credentials: Credentials,
): Promise<string> {
  const ring = await openKeyRing(database, "integrations", () => Promise.resolve([kek]));
  const key = { companyId, connectionId: newId("conn_") };
  const sealed = await sealCredentials({ database, ring }, key, credentials);
  const connection = {
    ...key,
    name: provider,
    provider,
    status: "active",
    externalAccountId: null,
    fields: {},
    metadataJson: null,
    credentials: sealed,
  } as const;
  await database.transaction((transaction) => insertConnection(transaction, connection, 1_000));
  return key.connectionId;
}

function settingsOf({ url }: HttpDouble) {
  const settings = { baseUrl: url, clientId: "our-id", clientSecret: "our-canary-secret" };
  return new Map(["rillet", "airwallex", "plaid"].map((id) => [id, settings]));
}

function connectionsClient({ grpcAddress: address }: RunningService, tokens: TestTokens) {
  const minter = tokens.minterTo("integrations");
  return createRpcClient(ConnectionsServiceService, { address, minter });
}

function actionsClient({ grpcAddress: address }: RunningService, tokens: TestTokens) {
  const minter = tokens.serviceMinterTo("integrations", "runs");
  return createRpcClient(ActionsServiceService, { address, minter });
}

async function connectRillet(
  client: Connections,
  apiKey: string,
  connectionId: string,
): Promise<string> {
  const request = { provider: "rillet", connectionId, name: "", apiKey, fields: {} };
  const { connection } = await client.connectApiKey(request, { identity: asCaller });
  return connection?.id ?? "";
}

/** The key of the last request during `act`; undefined when there was none. */
async function keySeen(
  { requests }: HttpDouble,
  act: () => Promise<void>,
): Promise<string | undefined> {
  const before = requests.length;
  await act();
  return requests.slice(before).at(-1)?.headers.authorization;
}

async function executeAction(client: Actions, action: string, connectionId: string): Promise<void> {
  const request = {
    action,
    inputsJson: "{}",
    connection: { stepConnectionId: connectionId },
    idempotencyKey: newId("run_"),
    hasTurn: false,
    hostLimits: [],
  };
  await client.executeAction(request, { identity: asRuns });
}

/** Two replicas of the service for the cases of a file; one double plays Rillet, Airwallex and Plaid. */
export function useConnections() {
  let harness: Harness;
  let server: HttpDouble;
  let handler = answerAlike;
  let one: Connections;
  let other: Connections;
  let actions: Actions;
  const clients: { close(): void }[] = [];

  function connectionsOf(service: RunningService): Connections {
    const client = connectionsClient(service, harness.tokens);
    clients.push(client);
    return client;
  }

  beforeAll(async () => {
    server = await startHttpDouble((request, response) => handler(request, response));
    harness = await startHarness({ providers: settingsOf(server) });
    const first = await harness.start();
    one = connectionsOf(first);
    other = connectionsOf(await harness.start());
    actions = actionsClient(first, harness.tokens);
    clients.push(actions);
  });
  beforeEach(() => {
    handler = answerAlike;
    server.requests.length = 0;
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await harness.close();
    await server.close();
  });

  return {
    get harness() {
      return harness;
    },
    /** The providers; its answers are those of the handler. */
    get server() {
      return server;
    },
    set handler(next: DoubleHandler) {
      handler = next;
    },
    /** Clients of the first replica and of the second. */
    get replicas() {
      return { one, other };
    },
    connectionsOf,
    addActive: (provider: string, credentials: Credentials) =>
      addActive(harness, provider, credentials),
    get: (connectionId: string) => one.getConnection({ connectionId }, { identity: asCaller }),
    /** Connects Rillet, or gives a connection of Rillet another key; returns its id. */
    connectRillet: (apiKey: string, connectionId = "") => connectRillet(one, apiKey, connectionId),
    /** Executes an action as a step does; returns the key that the provider saw. */
    keySeenByAction: (connectionId: string, action = "rillet.listCustomers") =>
      keySeen(server, () => executeAction(actions, action, connectionId)),
  };
}
