import { randomBytes } from "node:crypto";
import type { ConnectionFields, Credentials } from "@workflow/catalog";
import { newId, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import type {
  ActionFailure,
  ExecuteActionRequest,
  ExecuteActionResponse,
} from "@workflow/proto/integrations/v1/actions";
import { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { openKeyRing } from "@workflow/sealing";
import type { KeyRing } from "@workflow/sealing";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import type { TestTokens } from "@workflow/testkit";
import { pino } from "pino";
import type { ConnectionKey } from "../../src/domain/connection-key.ts";
import type { ConnectionStatus } from "../../src/domain/connection-states.ts";
import { sealCredentials } from "../../src/encryption/sealed-credentials.ts";
import { startIntegrationsService } from "../../src/service.ts";
import type { IntegrationsServiceOptions } from "../../src/service.ts";
import { changeConnection } from "../../src/store/connection-changes.ts";
import { findConnection, insertConnection } from "../../src/store/connections.ts";

export type ActionsClient = RpcClient<typeof ActionsServiceService> &
  RpcClient<typeof EmailServiceService> &
  Pick<RpcClient<typeof ConnectionsServiceService>, "deleteConnection">;

/** A connection for a test; active, and without credentials, unless the test says otherwise. */
export interface TestConnection {
  provider: string;
  name?: string;
  credentials?: Credentials;
  fields?: ConnectionFields;
  status?: ConnectionStatus;
  expiresAt?: Date;
}

/** Services that call providers, all on one database of this test file. */
export interface ActionsHarness {
  /** The database as its superuser sees it. */
  database: Database;
  /** The log of all services, at every level. */
  logged(): string;
  /** Starts a replica and returns a client of it, which speaks as the runs service. */
  start(options?: Partial<IntegrationsServiceOptions>): Promise<ActionsClient>;
  /** Stores a connection as connecting does; returns its id. */
  connect(companyId: string, connection: TestConnection): Promise<string>;
  /** Stores other keys, as a person who enters them does. */
  replaceCredentials(key: ConnectionKey, credentials: Credentials): Promise<void>;
  statusOf(key: ConnectionKey): Promise<{ status: string; errorMessage: string | null }>;
  close(): Promise<void>;
}

/** Starts no service yet; `start` does. */
export async function startActionsHarness(): Promise<ActionsHarness> {
  const testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  const tokens = createTestTokens();
  const bus = createInProcessEventBus({ consumers: {} });
  const lines: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line) => void lines.push(line) });
  const keks = [randomBytes(32)];
  const closers: (() => Promise<void> | void)[] = [];
  const database = await openDatabase({
    connectionUri,
    applicationName: "test",
    maxConnections: 3,
  });
  const ring = await openKeyRing(database, "integrations", () => Promise.resolve(keks));
  return {
    database,
    logged: () => lines.join(""),
    async start(options = {}) {
      const service = await startIntegrationsService({
        databaseUrl: connectionUri,
        databasePoolSize: 10,
        loadKeks: () => Promise.resolve(keks),
        bus,
        grpcAddress: "127.0.0.1:0",
        tokenPublicKeys: tokens.publicKeys,
        grpcReflection: false,
        logger,
        ...options,
      });
      closers.push(() => service.stop());
      return connectClient(service.grpcAddress, tokens, closers);
    },
    connect: (companyId, connection) => storeConnection(database, ring, companyId, connection),
    async replaceCredentials(key, credentials) {
      const sealed = await sealCredentials({ database, ring }, key, credentials);
      await changeConnection(database, key, "keysReplaced", { credentials: sealed });
    },
    async statusOf(key) {
      const row = await findConnection(database, key);
      if (row === null) throw new Error(`no connection ${key.connectionId}`);
      return { status: row.status, errorMessage: row.errorMessage };
    },
    async close() {
      for (const close of closers.toReversed()) await close();
      await bus.close();
      await database.end();
      await testDatabase.close();
    },
  };
}

/** A client that speaks as the runs service, and as the gateway where runs may not call. */
function connectClient(
  address: string,
  tokens: TestTokens,
  closers: (() => Promise<void> | void)[],
): ActionsClient {
  const runsMinter = tokens.serviceMinterTo("integrations", "runs");
  const asRuns = createRpcClient(ActionsServiceService, {
    address,
    minter: runsMinter,
    // Hundreds of calls at once take their time on a busy machine.
    defaultTimeoutMs: 50_000,
  });
  const mail = createRpcClient(EmailServiceService, {
    address,
    minter: runsMinter,
    defaultTimeoutMs: 25_000,
  });
  const gatewayOptions = { address, minter: tokens.minterTo("integrations") };
  const asGateway = createRpcClient(ActionsServiceService, gatewayOptions);
  const connections = createRpcClient(ConnectionsServiceService, gatewayOptions);
  closers.push(
    () => connections.close(),
    () => asRuns.close(),
    () => mail.close(),
    () => asGateway.close(),
  );
  return {
    ...asRuns,
    ...mail,
    checkConnections: asGateway.checkConnections,
    deleteConnection: connections.deleteConnection,
  };
}

async function storeConnection(
  database: Database,
  ring: KeyRing,
  companyId: string,
  connection: TestConnection,
): Promise<string> {
  const key = { companyId, connectionId: newId("conn_") };
  const sealed = await sealCredentials({ database, ring }, key, connection.credentials ?? {});
  const row = {
    ...key,
    name: connection.name ?? connection.provider,
    provider: connection.provider,
    status: "active",
    externalAccountId: null,
    fields: connection.fields ?? {},
    metadataJson: null,
    credentials: sealed,
  } as const;
  await database.transaction((transaction) => insertConnection(transaction, row, 1_000));
  await setState(database, key, connection);
  return key.connectionId;
}

async function setState(
  database: Database,
  { companyId, connectionId }: ConnectionKey,
  { status = "active", expiresAt }: TestConnection,
): Promise<void> {
  await database.query(sql.unsafe`
    update integrations.connections
    set status = ${status}, credentials_expire_at = ${expiresAt?.toISOString() ?? null}::timestamptz
    where company_id = ${companyId} and id = ${connectionId}
  `);
}

/** The execution plane, in the name of a company of its own unless one is given. */
export function runsOf(companyId = newUuid()): Identity {
  return {
    companyId,
    principal: { type: "service", id: "runs" },
    scopes: ["internal:effects", "internal:secrets"],
  };
}

/** A person of a company with the scopes of connections. */
export function personOf(companyId: string): Identity {
  return {
    companyId,
    principal: { type: "user", id: newUuid() },
    scopes: ["connections:read", "connections:write"],
  };
}

/** A call with defaults for the members that tests seldom care about. */
export function stepCall(request: Partial<ExecuteActionRequest> & { action: string }) {
  return {
    inputsJson: "{}",
    connection: undefined,
    idempotencyKey: "run_1:step:1",
    hasTurn: false,
    hostLimits: [],
    ...request,
  };
}

/** The output of a call; fails the test when there is none. */
export function outputOf({ outcome }: ExecuteActionResponse): unknown {
  if (outcome?.$case === "outputJson") return JSON.parse(outcome.value);
  throw new Error(`Expected an output, got ${JSON.stringify(outcome)}`);
}

/** The failure of a call, with its details; fails the test when there is none. */
export function failureOf({
  outcome,
}: {
  outcome: ExecuteActionResponse["outcome"] | { $case: "authorization"; value: unknown };
}): Omit<ActionFailure, "detailsJson"> & { details: unknown } {
  if (outcome?.$case !== "failure") {
    throw new Error(`Expected a failure, got ${JSON.stringify(outcome)}`);
  }
  const { detailsJson, ...failure } = outcome.value;
  return { ...failure, details: JSON.parse(detailsJson) };
}
