import { inspect } from "node:util";
import { newUuid, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import type { EventEnvelope } from "@workflow/events";
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
  /** As superuser, to look behind the API. */
  database: Database;
  /** What the service has published, in order. */
  events: EventEnvelope[];
  /** The settings with which the service would be started as a process. */
  environment: Record<string, string>;
  /** Stops the service as a deployment would, keeping database and double. */
  stopService(): Promise<void>;
  startService(): Promise<void>;
  close(): Promise<void>;
}

export async function startHarness(): Promise<Harness> {
  const testDatabase = await createTestDatabase();
  const tokens = createTestTokens();
  // A port of its own, so that the double can go away and come back.
  const runs = new RunsDouble(tokens.publicKeys, `127.0.0.1:${await freePort()}`);
  await runs.start();
  const grpcAddress = `127.0.0.1:${await freePort()}`;
  const bus = createInProcessEventBus({ consumers: {} });
  const events: EventEnvelope[] = [];
  const collect = async (event: EventEnvelope): Promise<void> => void events.push(event);
  await bus.subscribe({ consumer: "test", stream: "workflows", handler: collect });
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
    // Tests call in great numbers at once, and a busy machine takes its time.
    defaultTimeoutMs: 60_000,
    address: grpcAddress,
    minter: tokens.minterTo("workflows"),
  });
  await client.waitForReady(60_000);
  const database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    applicationName: "test",
    maxConnections: 2,
  });
  return {
    client,
    runs,
    database,
    events,
    environment: {
      // Nobody answers there; events wait in the outbox.
      NATS_URL: `nats://127.0.0.1:${await freePort()}`,
      DATABASE_URL: testDatabase.connectionUri,
      WORKFLOWS_GRPC_ADDR: grpcAddress,
      RUNS_GRPC_ADDR: runs.address,
      ...tokens.environment("workflows"),
      METRICS_PORT: "0",
      LOG_LEVEL: "silent",
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
