import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { GetRunRequest, WatchRunRequest } from "@workflow/proto/runs/v1/runs";
import type { StartRunsAndWaitRequest } from "@workflow/proto/runs/v1/starts";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import { createRpcServer, createTokenVerifier, rpc, rpcServerStream } from "@workflow/rpc";
import type { IssuerKeys, RpcContext, RpcServer, TokenAudience } from "@workflow/rpc";
import type { Logger } from "pino";
import { createHandlers } from "./backend-handlers.ts";
import type { BackendHandlers } from "./backend-handlers.ts";

/** One call that a double received. */
export interface RecordedCall {
  method: string;
  request: unknown;
  context: RpcContext;
}

/** Real gRPC servers in place of the services, whose methods tests replace. */
export interface BackendDoubles extends BackendHandlers {
  calls: RecordedCall[];
  workflowsAddress: string;
  runsAddress: string;
  integrationsAddress: string;
  workflowsServer: RpcServer;
  runsServer: RpcServer;
  close(): Promise<void>;
}

/** Starts the doubles, which find nothing until a test replaces a method. */
export async function startBackendDoubles(
  publicKeys: IssuerKeys,
  logger: Logger,
): Promise<BackendDoubles> {
  const calls: RecordedCall[] = [];
  const handlers = createHandlers();
  const serverOf = (audience: TokenAudience): RpcServer =>
    createRpcServer({
      logger,
      verifier: createTokenVerifier({ audience, publicKeys, revoked: { has: async () => false } }),
    });
  const [workflows, runs, integrations] = [
    serverOf("workflows"),
    serverOf("runs"),
    serverOf("integrations"),
  ];
  addWorkflows(workflows, handlers, calls);
  addRuns(runs, handlers, calls);
  addApprovalsAndSchedules(runs, handlers, calls);
  addSecretsAndAgents(integrations, handlers, calls);
  const servers = [workflows, runs, integrations];
  const [workflowsBound, runsBound, integrationsBound] = await Promise.all([
    workflows.listen("127.0.0.1:0"),
    runs.listen("127.0.0.1:0"),
    integrations.listen("127.0.0.1:0"),
  ]);
  for (const server of servers) server.setServing(true);
  return {
    ...handlers,
    calls,
    workflowsAddress: workflowsBound.address,
    runsAddress: runsBound.address,
    integrationsAddress: integrationsBound.address,
    workflowsServer: workflows,
    runsServer: runs,
    close: async () => {
      await Promise.all(servers.map((server) => server.close(100)));
    },
  };
}

/** Makes methods that record their calls and look their handler up at each call. */
function recordedIn(calls: RecordedCall[]) {
  return <Request, Response>(
    method: string,
    scopes: string,
    handler: () => (request: Request, context: RpcContext) => Promise<Response>,
  ) =>
    rpc<Request, Response>({
      scopes,
      handler: (request, context) => {
        calls.push({ method, request, context });
        return handler()(request, context);
      },
    });
}

const READ = "workflows:read";
const WRITE = "workflows:write";

function addWorkflows(
  server: RpcServer,
  { workflows }: BackendHandlers,
  calls: RecordedCall[],
): void {
  const double = recordedIn(calls);
  server.add(WorkflowsServiceService, {
    createWorkflow: double("createWorkflow", WRITE, () => workflows.createWorkflow),
    getWorkflow: double("getWorkflow", READ, () => workflows.getWorkflow),
    listWorkflows: double("listWorkflows", READ, () => workflows.listWorkflows),
    listTools: double("listTools", READ, () => workflows.listTools),
    getTool: double("getTool", READ, () => workflows.getTool),
    updateWorkflow: double("updateWorkflow", WRITE, () => workflows.updateWorkflow),
    archiveWorkflow: double("archiveWorkflow", WRITE, () => workflows.archiveWorkflow),
    activateWorkflow: double("activateWorkflow", WRITE, () => workflows.activateWorkflow),
    pauseWorkflow: double("pauseWorkflow", WRITE, () => workflows.pauseWorkflow),
    planWorkflow: double("planWorkflow", READ, () => workflows.planWorkflow),
    saveCanvas: double("saveCanvas", WRITE, () => workflows.saveCanvas),
    cloneWorkflow: double("cloneWorkflow", WRITE, () => workflows.cloneWorkflow),
    importWorkflow: double("importWorkflow", WRITE, () => workflows.importWorkflow),
    listVersions: double("listVersions", READ, () => workflows.listVersions),
    getVersion: double("getVersion", READ, () => workflows.getVersion),
    compareVersions: double("compareVersions", READ, () => workflows.compareVersions),
    rollbackWorkflow: double("rollbackWorkflow", WRITE, () => workflows.rollbackWorkflow),
  });
}

function addRuns(server: RpcServer, { runs }: BackendHandlers, calls: RecordedCall[]): void {
  const double = recordedIn(calls);
  server.add(RunsServiceService, {
    startRun: double("startRun", "workflows:execute", () => runs.startRun),
    startRuns: double("startRuns", "workflows:execute", () => runs.startRuns),
    getRun: double("getRun", "runs:read", () => runs.getRun),
    readRun: rpcServerStream({
      scopes: "runs:read",
      handler: (request: GetRunRequest, context) => {
        calls.push({ method: "readRun", request, context });
        return runs.readRun(request, context);
      },
    }),
    listRunSteps: double("listRunSteps", "runs:read", () => runs.listRunSteps),
    getRunStep: double("getRunStep", "runs:read", () => runs.getRunStep),
    getRunStatuses: double("getRunStatuses", "workflows:execute", () => runs.getRunStatuses),
    listRuns: double("listRuns", "runs:read", () => runs.listRuns),
    cancelRun: double("cancelRun", "workflows:execute", () => runs.cancelRun),
    retryRun: double("retryRun", "workflows:execute", () => runs.retryRun),
    restartRun: double("restartRun", "workflows:execute", () => runs.restartRun),
    bulkRuns: double("bulkRuns", "workflows:execute", () => runs.bulkRuns),
    startRunsAndWait: rpcServerStream({
      scopes: "workflows:execute",
      handler: (request: StartRunsAndWaitRequest, context) => {
        calls.push({ method: "startRunsAndWait", request, context });
        return runs.startRunsAndWait(request, context);
      },
    }),
    watchRun: rpcServerStream({
      scopes: "runs:read",
      handler: (request: WatchRunRequest, context) => {
        calls.push({ method: "watchRun", request, context });
        return runs.watchRun(request, context);
      },
    }),
  });
}

function addApprovalsAndSchedules(
  server: RpcServer,
  { approvals, schedules }: BackendHandlers,
  calls: RecordedCall[],
): void {
  const double = recordedIn(calls);
  server.add(ApprovalsServiceService, {
    listRunApprovals: double("listRunApprovals", "runs:read", () => approvals.listRunApprovals),
    listApprovals: double("listApprovals", "runs:read", () => approvals.listApprovals),
    decideApproval: double("decideApproval", "workflows:execute", () => approvals.decideApproval),
  });
  server.add(SchedulesServiceService, {
    getSchedule: double("getSchedule", READ, () => schedules.getSchedule),
    updateSchedule: double("updateSchedule", WRITE, () => schedules.updateSchedule),
    triggerSchedule: double(
      "triggerSchedule",
      "workflows:execute",
      () => schedules.triggerSchedule,
    ),
  });
}

function addSecretsAndAgents(
  server: RpcServer,
  { secrets, agents }: BackendHandlers,
  calls: RecordedCall[],
): void {
  const double = recordedIn(calls);
  server.add(SecretsServiceService, {
    listSecrets: double("listSecrets", "secrets:read", () => secrets.listSecrets),
    createSecret: double("createSecret", "secrets:write", () => secrets.createSecret),
    replaceSecret: double("replaceSecret", "secrets:write", () => secrets.replaceSecret),
    deleteSecret: double("deleteSecret", "secrets:write", () => secrets.deleteSecret),
    resolveSecrets: double("resolveSecrets", "internal:secrets", () => secrets.resolveSecrets),
  });
  const { executeAgent } = AgentsServiceService;
  server.add(
    { executeAgent },
    { executeAgent: double("executeAgent", "workflows:execute", () => agents.executeAgent) },
  );
}
