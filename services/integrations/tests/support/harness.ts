import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { newId, newUuid, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import type { TestTokens } from "@workflow/testkit";
import { pino } from "pino";
import { startIntegrationsService } from "../../src/service.ts";
import type { IntegrationsServiceOptions, RunningService } from "../../src/service.ts";

export type SecretsClient = RpcClient<typeof SecretsServiceService>;

/** The real service on a database of its own. */
export interface Harness {
  /** A client of the first service. */
  client: SecretsClient;
  /** The database as its superuser sees it. */
  database: Database;
  databaseUri: string;
  bus: EventBus;
  /** The keys of tokens, for clients of further RPC services. */
  tokens: TestTokens;
  /** The log of all services, at every level. */
  logged(): string;
  /** The key of SECRETS_KEK, unless `start` gets others. */
  kek: Buffer;
  /** Starts one more service on the same database. */
  start(more?: Partial<IntegrationsServiceOptions>): Promise<RunningService>;
  connect(service: RunningService): SecretsClient;
  close(): Promise<void>;
}

export async function startHarness(
  options: Partial<IntegrationsServiceOptions> = {},
): Promise<Harness> {
  const testDatabase = await createTestDatabase();
  const databaseUri = testDatabase.connectionUri;
  const tokens = createTestTokens();
  const bus = createInProcessEventBus({ consumers: {} });
  const lines: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line) => void lines.push(line) });
  const kek = randomBytes(32);
  const started: RunningService[] = [];
  const clients: SecretsClient[] = [];
  const start = async (more: Partial<IntegrationsServiceOptions> = {}): Promise<RunningService> => {
    const service = await startIntegrationsService({
      databaseUrl: databaseUri,
      databasePoolSize: 10,
      loadKeks: () => Promise.resolve([kek]),
      bus,
      grpcAddress: "127.0.0.1:0",
      tokenPublicKeys: tokens.publicKeys,
      // Reading the protos takes a quarter of a start.
      grpcReflection: false,
      logger,
      ...options,
      ...more,
    });
    started.push(service);
    return service;
  };
  const connect = ({ grpcAddress }: RunningService): SecretsClient => {
    const client = connectSecrets(grpcAddress, tokens);
    clients.push(client);
    return client;
  };
  const client = connect(await start());
  const database = await openDatabase({
    connectionUri: databaseUri,
    applicationName: "test",
    maxConnections: 3,
  });
  return {
    client,
    database,
    databaseUri,
    bus,
    tokens,
    logged: () => lines.join(""),
    kek,
    start,
    connect,
    async close() {
      for (const each of clients) each.close();
      for (const service of started) await service.stop();
      await bus.close();
      await database.end();
      await testDatabase.close();
    },
  };
}

/** A client of secrets, which reads values in the name of the runs service: nobody else may. */
function connectSecrets(address: string, tokens: TestTokens): SecretsClient {
  const minter = tokens.minterTo("integrations");
  const client = createRpcClient(SecretsServiceService, { address, minter });
  const asRuns = createRpcClient(SecretsServiceService, {
    address,
    minter: tokens.serviceMinterTo("integrations", "runs"),
  });
  const close = (): void => {
    client.close();
    asRuns.close();
  };
  return { ...client, resolveSecrets: asRuns.resolveSecrets, close };
}

/** A caller of a company of its own that may do everything. */
export function newIdentity(
  scopes: readonly string[] = ["secrets:read", "secrets:write", "internal:secrets"],
): Identity {
  return { companyId: newUuid(), principal: { type: "api_key", id: newUuid() }, scopes };
}

/** The event that the workflows service publishes when a workflow is archived. */
export function archivedEvent({ companyId }: Identity, workflowId: string) {
  const id = newId("evt_");
  const type = "workflow.archived";
  const timestamp = new Date().toISOString();
  const envelope = { id, type, timestamp, companyId, data: { workflowId } };
  return { id, type, stream: "workflows", body: JSON.stringify(envelope) };
}

/** The AppError that a call ends with; fails the test when it succeeds. */
export async function errorOf(call: Promise<unknown>): Promise<AppError> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error(`Expected an error, got ${inspect(answer, { maxStringLength: 500 })}`);
}
