import { inspect } from "node:util";
import { newUuid, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import type { EventBus, EventEnvelope } from "@workflow/events";
import type { AppError } from "@workflow/errors";
import { isAppError } from "@workflow/errors";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import type { CreateWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { createTestDatabase, createTestTokens, freePort } from "@workflow/testkit";
import { pino } from "pino";
import { startWorkflowsService } from "../../src/service.ts";
import { RunsDouble } from "./runs-double.ts";

export type WorkflowsClient = RpcClient<typeof WorkflowsServiceService>;

/** The real service on a database of its own, with a double of the execution plane beside it. */
export interface Harness {
  client: WorkflowsClient;
  runs: RunsDouble;
  /** The database as its superuser sees it. */
  database: Database;
  /** The events of the service, in order. */
  events: EventEnvelope[];
  /** The settings of the service as a process. */
  environment: Record<string, string>;
  /** Stops the service as a deployment does; the database and the double stay. */
  stopService(): Promise<void>;
  startService(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the service and the double. */
export async function startHarness(): Promise<Harness> {
  const testDatabase = await createTestDatabase();
  const tokens = createTestTokens();
  // A fixed port lets the double go away and come back.
  const runs = new RunsDouble(tokens.publicKeys, `127.0.0.1:${await freePort()}`);
  await runs.start();
  const grpcAddress = `127.0.0.1:${await freePort()}`;
  const bus = createInProcessEventBus({ consumers: {} });
  const events = await collectEvents(bus);
  const start = () =>
    startWorkflowsService({
      databaseUrl: testDatabase.connectionUri,
      databasePoolSize: 10,
      grpcAddress,
      runsGrpcAddress: runs.address,
      tokenPublicKeys: tokens.publicKeys,
      // Reading the protos takes a quarter of a start.
      grpcReflection: false,
      tokenSigner: tokens.signerOf("workflows"),
      agentModels: { openai: "gpt-test", anthropic: "claude-test" },
      bus,
      logger: pino({ level: "silent" }),
    });
  let service = await start();
  const client = createRpcClient(WorkflowsServiceService, {
    // Enough for a great number of calls at once on a busy machine.
    defaultTimeoutMs: 60_000,
    address: grpcAddress,
    minter: tokens.minterTo("workflows"),
  });
  await client.waitForReady(60_000);
  const { connectionUri } = testDatabase;
  const databaseOptions = { connectionUri, applicationName: "test", maxConnections: 2 };
  const database = await openDatabase(databaseOptions);
  return {
    client,
    runs,
    database,
    events,
    environment: {
      ...(await environmentOf(connectionUri, runs)),
      WORKFLOWS_GRPC_ADDR: grpcAddress,
      ...tokens.environment("workflows"),
    },
    stopService: () => service.stop(),
    async startService() {
      service = await start();
      await client.waitForReady(60_000);
    },
    async close() {
      client.close();
      await service.stop();
      await runs.stop();
      await bus.close();
      await database.end();
      await testDatabase.close();
    },
  };
}

/** The events of the workflows stream, which come in as they are published. */
async function collectEvents(bus: EventBus): Promise<EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  const handler = async (event: EventEnvelope): Promise<void> => void events.push(event);
  await bus.subscribe({ consumer: "test", stream: "workflows", handler });
  return events;
}

async function environmentOf(databaseUrl: string, runs: RunsDouble) {
  return {
    // No server answers there, so that events wait in the outbox.
    NATS_URL: `nats://127.0.0.1:${await freePort()}`,
    DATABASE_URL: databaseUrl,
    RUNS_GRPC_ADDR: runs.address,
    METRICS_PORT: "0",
    LOG_LEVEL: "silent",
  };
}

/** A caller of a company of its own. */
export function newIdentity(scopes = ["workflows:read", "workflows:write"]): Identity {
  return { companyId: newUuid(), principal: { type: "api_key", id: newUuid() }, scopes };
}

/** A workflow that can be executed. */
export function validWorkflow(changes: Partial<CreateWorkflowRequest> = {}): CreateWorkflowRequest {
  return {
    name: "Greeting",
    triggerJson: '{"type":"api"}',
    stepsJson: stepsJson("hello"),
    ...changes,
  };
}

/** A single transform step that yields a text. */
export function stepsJson(text: string): string {
  return JSON.stringify([
    { id: "greet", type: "transform", name: "Greet", config: { mapping: { text } } },
  ]);
}

/** A new workflow of the caller, made active. */
export async function createActive(
  client: WorkflowsClient,
  identity: Identity,
  changes: Partial<CreateWorkflowRequest> = {},
): Promise<Workflow> {
  const { id } = await client.createWorkflow(validWorkflow(changes), { identity });
  return client.activateWorkflow({ workflowId: id }, { identity });
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
