import { newUuid, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { DeploymentStatus, DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import { RunEventsServiceService } from "@workflow/proto/runs/v1/run_events";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { ListRunsRequest } from "@workflow/proto/runs/v1/runs";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { RunStatsServiceService } from "@workflow/proto/runs/v1/stats";
import { TriggersServiceService } from "@workflow/proto/runs/v1/triggers";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient, TokenIssuer } from "@workflow/rpc";
import { createTestDatabase, createTestTokens, waitFor } from "@workflow/testkit";
import type { TestTokens } from "@workflow/testkit";
import { pino } from "pino";
import { startRunsService } from "../../src/service.ts";
import type { RunningService, RunsServiceOptions } from "../../src/service.ts";

const TERMINAL: readonly RunStatus[] = [
  RunStatus.COMPLETED,
  RunStatus.FAILED,
  RunStatus.CANCELLED,
  RunStatus.TIMEOUT,
];

/** Enough for a great number of calls at once on a busy machine. */
const CALL_TIMEOUT_MS = 60_000;

/** A runs service on a database of its own, called over gRPC. */
export interface RunsHarness {
  database: Database;
  runs: RpcClient<typeof RunsServiceService>;
  deployments: RpcClient<typeof DeploymentsServiceService>;
  approvals: RpcClient<typeof ApprovalsServiceService>;
  schedules: RpcClient<typeof SchedulesServiceService>;
  stats: RpcClient<typeof RunStatsServiceService>;
  /** Called in the name of the webhooks service, as `runEvents` is. */
  triggers: RpcClient<typeof TriggersServiceService>;
  runEvents: RpcClient<typeof RunEventsServiceService>;
  /** Called in the name of the workflows service, which may not call it. */
  foreignTriggers: RpcClient<typeof TriggersServiceService>;
  identity: Identity;
  /** Deploys steps as an active workflow and returns its id. */
  deploy(steps: readonly unknown[], more?: Partial<WorkflowContent>): Promise<string>;
  /** Starts a run and waits until it has ended. */
  runToEnd(workflowId: string, input?: unknown): Promise<Run>;
  start(workflowId: string, input?: unknown): Promise<string>;
  get(runId: string): Promise<Run>;
  waitForEnd(runId: string): Promise<Run>;
  /** Waits for the first run of a workflow in a status, and returns its id. */
  waitForRun(workflowId: string, status: RunStatus): Promise<string>;
  /** Starts one more service on the same database, as another process does. */
  startAnother(role: "api" | "worker", more?: Partial<RunsServiceOptions>): Promise<RunningService>;
  /** A new client of another service. */
  connect(service: RunningService): RpcClient<typeof RunsServiceService>;
  close(): Promise<void>;
}

/** The parts of a deployment beside its steps. */
export interface WorkflowContent {
  workflowId: string;
  revision: number;
  version: number;
  name: string;
  /** The trigger; `{type: "api"}` by default. */
  trigger: unknown;
  inputSchema: unknown;
  outputSchema: unknown;
  settings: unknown;
  identity: Identity;
}

/** An identity with every scope that the service asks for. */
export function testIdentity(companyId: string = newUuid()): Identity {
  return {
    companyId,
    principal: { type: "api_key", id: "tests" },
    scopes: [
      "runs:read",
      "workflows:read",
      "workflows:write",
      "workflows:execute",
      "internal:deployments",
    ],
  };
}

/** The webhooks service in its own name. */
export const WEBHOOKS_SERVICE = {
  companyId: "00000000-0000-0000-0000-000000000000",
  principal: { type: "service", id: "webhooks" },
  scopes: ["internal:triggers", "internal:run_events"],
} as const satisfies Identity;

/** Starts a service for one test file, on a database of its own unless one is given. */
export async function startRunsHarness(
  given: Partial<RunsServiceOptions> & { identity?: Identity } = {},
): Promise<RunsHarness> {
  const { identity = testIdentity(), ...options } = given;
  const testDatabase =
    options.databaseUrl === undefined
      ? await createTestDatabase()
      : { connectionUri: options.databaseUrl, close: () => Promise.resolve() };
  const { connectionUri } = testDatabase;
  const tokens = createTestTokens();
  const bus = options.bus ?? createInProcessEventBus({ consumers: {} });
  const base: RunsServiceOptions = {
    role: "all",
    databaseUrl: connectionUri,
    databasePoolSize: 8,
    grpcAddress: "127.0.0.1:0",
    tokenPublicKeys: tokens.publicKeys,
    // Reading the protos takes a quarter of a start.
    grpcReflection: false,
    bus,
    outboundAllowPrivate: true,
    workerConcurrency: 100,
    logger: pino({ level: process.env["TEST_LOG_LEVEL"] ?? "silent" }),
    ...options,
  };
  const service = await startRunsService(base);
  const started: RunningService[] = [service];
  const clients = createClients(service, tokens);
  const more: { close(): void }[] = [];
  const databaseOptions = { connectionUri, applicationName: "test", maxConnections: 3 };
  const database = await openDatabase(databaseOptions);
  return {
    database,
    ...clients,
    identity,
    ...createRunCalls(clients, identity),
    async startAnother(role, changed = {}) {
      const another = await startRunsService({ ...base, role, ...changed });
      started.push(another);
      return another;
    },
    connect(another) {
      const client = createRpcClient(RunsServiceService, clientOptions(another, tokens));
      more.push(client);
      return client;
    },
    async close() {
      for (const client of [...more, ...Object.values(clients)]) client.close();
      await database.end();
      await Promise.all(started.map((each) => each.stop()));
      if (options.bus === undefined) await bus.close();
      await testDatabase.close();
    },
  };
}

/** The options of a client, by default one in the name of callers from outside. */
function clientOptions(
  { grpcAddress }: RunningService,
  tokens: TestTokens,
  minter = tokens.minterTo("runs"),
) {
  return { address: grpcAddress ?? "", minter, defaultTimeoutMs: CALL_TIMEOUT_MS };
}

function createClients(service: RunningService, tokens: TestTokens) {
  const callers = clientOptions(service, tokens);
  const inNameOf = (issuer: TokenIssuer) =>
    clientOptions(service, tokens, tokens.serviceMinterTo("runs", issuer));
  const [workflows, webhooks] = [inNameOf("workflows"), inNameOf("webhooks")];
  return {
    runs: createRpcClient(RunsServiceService, callers),
    approvals: createRpcClient(ApprovalsServiceService, callers),
    schedules: createRpcClient(SchedulesServiceService, callers),
    stats: createRpcClient(RunStatsServiceService, callers),
    deployments: createRpcClient(DeploymentsServiceService, workflows),
    foreignTriggers: createRpcClient(TriggersServiceService, workflows),
    triggers: createRpcClient(TriggersServiceService, webhooks),
    runEvents: createRpcClient(RunEventsServiceService, webhooks),
  };
}

type RunCalls = Pick<
  RunsHarness,
  "get" | "deploy" | "start" | "runToEnd" | "waitForEnd" | "waitForRun"
>;

function createRunCalls(
  { runs, deployments }: Pick<RunsHarness, "runs" | "deployments">,
  identity: Identity,
): RunCalls {
  const get = (runId: string): Promise<Run> => runs.getRun({ runId }, { identity });
  const calls: RunCalls = {
    get,
    async deploy(steps, more = {}) {
      const workflowId = more.workflowId ?? newUuid();
      const content = contentOf(steps, more);
      const { revision = 1 } = more;
      await deployments.putDeployment(
        { workflowId, revision, status: DeploymentStatus.ACTIVE, content },
        { identity: more.identity ?? identity },
      );
      return workflowId;
    },
    async start(workflowId, input) {
      const response = await runs.startRun(startRequest(workflowId, input), { identity });
      if (response.run === undefined) throw new Error("no run in the response");
      return response.run.id;
    },
    async runToEnd(workflowId, input) {
      return calls.waitForEnd(await calls.start(workflowId, input));
    },
    waitForEnd: (runId) =>
      waitFor(
        async () => {
          const run = await get(runId);
          return TERMINAL.includes(run.status) ? run : null;
        },
        { timeoutMs: 60_000, what: `run ${runId} to end` },
      ),
    waitForRun: (workflowId, status) =>
      waitFor(
        async () => {
          const request = listRequest({ workflowId, statuses: [status] });
          const { runs: found } = await runs.listRuns(request, { identity });
          return found[0]?.id ?? null;
        },
        { timeoutMs: 60_000, what: `a run of ${workflowId} in status ${status}` },
      ),
  };
  return calls;
}

function contentOf(steps: readonly unknown[], more: Partial<WorkflowContent>) {
  const json = (value: unknown): string | undefined =>
    value === undefined ? undefined : JSON.stringify(value);
  return {
    name: more.name ?? "Test workflow",
    version: more.version ?? 1,
    triggerJson: JSON.stringify(more.trigger ?? { type: "api" }),
    stepsJson: JSON.stringify(steps),
    inputSchemaJson: json(more.inputSchema),
    outputSchemaJson: json(more.outputSchema),
    settingsJson: json(more.settings),
  };
}

/** A request to start a run in the background. */
export function startRequest(workflowId: string, input?: unknown) {
  return {
    workflowId,
    inputJson: input === undefined ? undefined : JSON.stringify(input),
    connectionId: undefined,
    idempotencyKey: undefined as string | undefined,
    triggerType: 0 as const,
    waitMs: 0,
    requestId: undefined,
  };
}

/** A request for all runs, or for those that the filters leave. */
export function listRequest(more: Partial<ListRunsRequest> = {}): ListRunsRequest {
  return {
    workflowId: "",
    statuses: [],
    triggerType: 0,
    createdAfter: undefined,
    createdBefore: undefined,
    tag: "",
    page: undefined,
    ...more,
  };
}

/** A delay. */
export function delay(id: string, durationMs: number | string) {
  return { id, type: "delay", name: id, config: { durationMs } };
}

/** A transform with a JSONata expression. */
export function expression(id: string, text: string, more: object = {}) {
  return { id, type: "transform", name: id, config: { expression: text }, ...more };
}

/** A transform with a mapping. */
export function mapping(id: string, value: unknown, more: object = {}) {
  return { id, type: "transform", name: id, config: { mapping: value }, ...more };
}

/** An action that calls a URL. */
export function httpStep(id: string, url: string, config: object = {}, more: object = {}) {
  return {
    id,
    type: "action",
    name: id,
    action: "http.request",
    config: { method: "POST", url, ...config },
    ...more,
  };
}

/** Branches side by side. */
export function parallel(id: string, branches: Record<string, unknown[]>, config: object = {}) {
  const list = Object.entries(branches).map(([branch, steps]) => ({ id: branch, steps }));
  return { id, type: "parallel", name: id, config: { branches: list, ...config } };
}

/** The same steps for each item, side by side. */
export function forEach(id: string, items: unknown, steps: unknown[], config: object = {}) {
  return { id, type: "parallel", name: id, config: { forEach: items, steps, ...config } };
}

/** The same steps again and again. */
export function repeat(id: string, over: object, steps: unknown[], more: object = {}) {
  return { id, type: "loop", name: id, config: { ...over, steps }, ...more };
}

/** A question to people. */
export function approval(id: string, config: object = {}, more: object = {}) {
  return { id, type: "approval", name: id, config: { message: "Go on?", ...config }, ...more };
}

/** A run of another workflow. */
export function callWorkflow(
  id: string,
  workflowId: string,
  config: object = {},
  more: object = {},
) {
  return { id, type: "workflow", name: id, config: { workflowId, ...config }, ...more };
}

/** Output and parsed results of a run, for expectations. */
export function resultsOf(run: Run) {
  return run.stepResults.map((step) => ({
    path: step.path,
    status: ["", "success", "error", "skipped"][step.status],
    output: step.outputJson === undefined ? null : (JSON.parse(step.outputJson) as unknown),
    error: step.error?.code ?? null,
    attempt: step.attempt,
  }));
}

/** A run's output. */
export function outputOf(run: Run): unknown {
  return run.outputJson === undefined ? undefined : JSON.parse(run.outputJson);
}
