import { AppError, toAppError } from "@workflow/errors";
import type { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import type { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import type { ApprovalsServiceService } from "@workflow/proto/runs/v1/approvals";
import type { SchedulesServiceService } from "@workflow/proto/runs/v1/schedules";
import type { GetRunStatusesResponse, RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { WorkflowsServiceService } from "@workflow/proto/workflows/v1/workflows";
import { toItemFailure } from "@workflow/rpc";
import type { RequestOf, ResponseOf, RpcContext, RpcDefinition } from "@workflow/rpc";

/** The methods of a double. */
export type Handlers<D extends RpcDefinition> = {
  -readonly [Name in keyof D]: (
    request: RequestOf<D[Name]>,
    context: RpcContext,
  ) => D[Name]["responseStream"] extends true
    ? AsyncIterable<ResponseOf<D[Name]>>
    : Promise<ResponseOf<D[Name]>>;
};

/** The methods of all doubles, which tests replace. */
export interface BackendHandlers {
  workflows: Handlers<WorkflowsServiceService>;
  runs: Handlers<RunsServiceService>;
  approvals: Handlers<ApprovalsServiceService>;
  schedules: Handlers<SchedulesServiceService>;
  secrets: Handlers<SecretsServiceService>;
  /** The slow method of agents; tests/e2e plays the others with the real service. */
  agents: Pick<Handlers<AgentsServiceService>, "executeAgent">;
}

const notFound = (what: string) => async (): Promise<never> => {
  throw new AppError("NOT_FOUND", `${what} not found`);
};

/** Handlers that find nothing. */
export function createHandlers(): BackendHandlers {
  return {
    workflows: workflowsHandlers(),
    runs: runsHandlers(),
    secrets: {
      listSecrets: notFound("Secret"),
      createSecret: notFound("Secret"),
      replaceSecret: notFound("Secret"),
      deleteSecret: notFound("Secret"),
      resolveSecrets: notFound("Secret"),
    },
    schedules: {
      getSchedule: notFound("Schedule"),
      updateSchedule: notFound("Schedule"),
      triggerSchedule: notFound("Schedule"),
    },
    approvals: {
      listRunApprovals: notFound("Run"),
      listApprovals: notFound("Approval"),
      decideApproval: notFound("Approval"),
    },
    agents: { executeAgent: notFound("Agent") },
  };
}

function workflowsHandlers(): Handlers<WorkflowsServiceService> {
  return {
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
}

function runsHandlers(): Handlers<RunsServiceService> {
  const runs: Handlers<RunsServiceService> = {
    startRun: notFound("Workflow"),
    startRuns: notFound("Workflow"),
    /** Answers each request as `startRun` does. */
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
    /** Answers as `getRun` does, in pieces. */
    async *readRun(request, context) {
      const { stepResults: results, ...run } = await runs.getRun(request, context);
      yield { part: { $case: "run", value: { ...run, stepResults: [] } } };
      yield { part: { $case: "steps", value: { results } } };
    },
    listRunSteps: notFound("Run"),
    getRunStep: notFound("Step result"),
    /** No run is known, so that each counts as it was started. */
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
  return runs;
}
