import { AppError, toAppError } from "@workflow/errors";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type {
  GetRunRequest,
  GetRunStatusesResponse,
  WatchRunRequest,
} from "@workflow/proto/runs/v1/runs";
import type { StartRunsAndWaitRequest } from "@workflow/proto/runs/v1/starts";
import { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import {
  createRpcServer,
  createTokenVerifier,
  rpc,
  rpcServerStream,
  toItemFailure,
} from "@workflow/rpc";
import type {
  IssuerKeys,
  TokenAudience,
  TokenVerifier,
  RequestOf,
  ResponseOf,
  RpcContext,
  RpcDefinition,
  RpcServer,
} from "@workflow/rpc";
import type { Logger } from "pino";

/** What a double does when one of its methods is called. */
export type Handlers<D extends RpcDefinition> = {
  -readonly [Name in keyof D]: (
    request: RequestOf<D[Name]>,
    context: RpcContext,
  ) => D[Name]["responseStream"] extends true
    ? AsyncIterable<ResponseOf<D[Name]>>
    : Promise<ResponseOf<D[Name]>>;
};

/** One call that a double received. */
export interface RecordedCall {
  method: string;
  request: unknown;
  context: RpcContext;
}

/** Real gRPC servers in place of the services; tests replace what their methods do. */
export interface BackendDoubles {
  workflows: Handlers<WorkflowsServiceService>;
  runs: Handlers<RunsServiceService>;
  approvals: Handlers<ApprovalsServiceService>;
  schedules: Handlers<SchedulesServiceService>;
  secrets: Handlers<SecretsServiceService>;
  /** Of agents, what takes long; the rest is tested with the real service, in tests/e2e. */
  agents: Pick<Handlers<AgentsServiceService>, "executeAgent">;
  calls: RecordedCall[];
  workflowsAddress: string;
  runsAddress: string;
  integrationsAddress: string;
  workflowsServer: RpcServer;
  runsServer: RpcServer;
  close(): Promise<void>;
}

const notFound = (what: string) => async (): Promise<never> => {
  throw new AppError("NOT_FOUND", `${what} not found`);
};

export async function startBackendDoubles(
  publicKeys: IssuerKeys,
  logger: Logger,
): Promise<BackendDoubles> {
  const calls: RecordedCall[] = [];
  const workflows: Handlers<WorkflowsServiceService> = {
    createWorkflow: notFound("Workflow"),
    getWorkflow: notFound("Workflow"),
    listWorkflows: notFound("Workflow"),
    listTools: notFound("Workflow"),
    getTool: notFound("Workflow"),
    updateWorkflow: notFound("Workflow"),
    archiveWorkflow: notFound("Workflow"),
    activateWorkflow: notFound("Workflow"),
    pauseWorkflow: notFound("Workflow"),
    planWorkflow: notFound("Workflow"),
    saveCanvas: notFound("Workflow"),
    cloneWorkflow: notFound("Workflow"),
    importWorkflow: notFound("Workflow"),
    listVersions: notFound("Workflow"),
    getVersion: notFound("Workflow"),
    compareVersions: notFound("Workflow"),
    rollbackWorkflow: notFound("Workflow"),
  };
  const runs: Handlers<RunsServiceService> = {
    startRun: notFound("Workflow"),
    startRuns: notFound("Workflow"),
    /** What `startRun` answers, for each. */
    async *startRunsAndWait({ requests }, context) {
      for (const [index, request] of requests.entries()) {
        const result = await runs.startRun(request, context).then(
          (started) => ({ started, failure: undefined }),
          (error: unknown) => ({ started: undefined, failure: toItemFailure(toAppError(error)) }),
        );
        yield { results: [{ index, result, waiting: undefined }] };
      }
    },
    getRun: notFound("Run"),
    /** What `getRun` answers, in pieces. */
    async *readRun(request, context) {
      const { stepResults: results, ...run } = await runs.getRun(request, context);
      yield { part: { $case: "run", value: { ...run, stepResults: [] } } };
      yield { part: { $case: "steps", value: { results } } };
    },
    listRunSteps: notFound("Run"),
    getRunStep: notFound("Step result"),
    /** None is known: they are as they were started. */
    getRunStatuses: async (): Promise<GetRunStatusesResponse> => ({ runs: [] }),
    listRuns: notFound("Run"),
    cancelRun: notFound("Run"),
    retryRun: notFound("Run"),
    restartRun: notFound("Run"),
    bulkRuns: notFound("Run"),
    async *watchRun() {
      yield await notFound("Run")();
    },
  };
  const secrets: Handlers<SecretsServiceService> = {
    listSecrets: notFound("Secret"),
    createSecret: notFound("Secret"),
    replaceSecret: notFound("Secret"),
    deleteSecret: notFound("Secret"),
    resolveSecrets: notFound("Secret"),
  };
  const agents: BackendDoubles["agents"] = { executeAgent: notFound("Agent") };
  const schedules: Handlers<SchedulesServiceService> = {
    getSchedule: notFound("Schedule"),
    updateSchedule: notFound("Schedule"),
    triggerSchedule: notFound("Schedule"),
  };
  const approvals: Handlers<ApprovalsServiceService> = {
    listRunApprovals: notFound("Run"),
    listApprovals: notFound("Approval"),
    decideApproval: notFound("Approval"),
  };
  const verifierOf = (audience: TokenAudience): TokenVerifier =>
    createTokenVerifier({ audience, publicKeys, revoked: { has: async () => false } });
  /** Looks the handler up at each call, so that tests may replace it. */
  function double<Request, Response>(
    method: string,
    scopes: string,
    handler: () => (request: Request, context: RpcContext) => Promise<Response>,
  ) {
    return rpc<Request, Response>({
      scopes,
      handler: (request, context) => {
        calls.push({ method, request, context });
        return handler()(request, context);
      },
    });
  }

  const workflowsServer = createRpcServer({ logger, verifier: verifierOf("workflows") });
  const readScope = "workflows:read";
  const writeScope = "workflows:write";
  workflowsServer.add(WorkflowsServiceService, {
    createWorkflow: double("createWorkflow", writeScope, () => workflows.createWorkflow),
    getWorkflow: double("getWorkflow", readScope, () => workflows.getWorkflow),
    listWorkflows: double("listWorkflows", readScope, () => workflows.listWorkflows),
    listTools: double("listTools", readScope, () => workflows.listTools),
    getTool: double("getTool", readScope, () => workflows.getTool),
    updateWorkflow: double("updateWorkflow", writeScope, () => workflows.updateWorkflow),
    archiveWorkflow: double("archiveWorkflow", writeScope, () => workflows.archiveWorkflow),
    activateWorkflow: double("activateWorkflow", writeScope, () => workflows.activateWorkflow),
    pauseWorkflow: double("pauseWorkflow", writeScope, () => workflows.pauseWorkflow),
    planWorkflow: double("planWorkflow", readScope, () => workflows.planWorkflow),
    saveCanvas: double("saveCanvas", writeScope, () => workflows.saveCanvas),
    cloneWorkflow: double("cloneWorkflow", writeScope, () => workflows.cloneWorkflow),
    importWorkflow: double("importWorkflow", writeScope, () => workflows.importWorkflow),
    listVersions: double("listVersions", readScope, () => workflows.listVersions),
    getVersion: double("getVersion", readScope, () => workflows.getVersion),
    compareVersions: double("compareVersions", readScope, () => workflows.compareVersions),
    rollbackWorkflow: double("rollbackWorkflow", writeScope, () => workflows.rollbackWorkflow),
  });
  const runsServer = createRpcServer({ logger, verifier: verifierOf("runs") });
  runsServer.add(RunsServiceService, {
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

  runsServer.add(ApprovalsServiceService, {
    listRunApprovals: double("listRunApprovals", "runs:read", () => approvals.listRunApprovals),
    listApprovals: double("listApprovals", "runs:read", () => approvals.listApprovals),
    decideApproval: double("decideApproval", "workflows:execute", () => approvals.decideApproval),
  });
  runsServer.add(SchedulesServiceService, {
    getSchedule: double("getSchedule", readScope, () => schedules.getSchedule),
    updateSchedule: double("updateSchedule", writeScope, () => schedules.updateSchedule),
    triggerSchedule: double(
      "triggerSchedule",
      "workflows:execute",
      () => schedules.triggerSchedule,
    ),
  });
  const integrationsServer = createRpcServer({ logger, verifier: verifierOf("integrations") });
  integrationsServer.add(SecretsServiceService, {
    listSecrets: double("listSecrets", "secrets:read", () => secrets.listSecrets),
    createSecret: double("createSecret", "secrets:write", () => secrets.createSecret),
    replaceSecret: double("replaceSecret", "secrets:write", () => secrets.replaceSecret),
    deleteSecret: double("deleteSecret", "secrets:write", () => secrets.deleteSecret),
    resolveSecrets: double("resolveSecrets", "internal:secrets", () => secrets.resolveSecrets),
  });
  const { executeAgent } = AgentsServiceService;
  integrationsServer.add(
    { executeAgent },
    { executeAgent: double("executeAgent", "workflows:execute", () => agents.executeAgent) },
  );

  const [workflowsBound, runsBound, integrationsBound] = await Promise.all([
    workflowsServer.listen("127.0.0.1:0"),
    runsServer.listen("127.0.0.1:0"),
    integrationsServer.listen("127.0.0.1:0"),
  ]);
  workflowsServer.setServing(true);
  runsServer.setServing(true);
  integrationsServer.setServing(true);
  return {
    workflows,
    runs,
    approvals,
    schedules,
    secrets,
    agents,
    calls,
    workflowsAddress: workflowsBound.address,
    runsAddress: runsBound.address,
    integrationsAddress: integrationsBound.address,
    workflowsServer,
    runsServer,
    close: async () => {
      await Promise.all([
        workflowsServer.close(100),
        runsServer.close(100),
        integrationsServer.close(100),
      ]);
    },
  };
}
