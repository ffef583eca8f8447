// Made from services/gateway/openapi.json by `npm run client:generate`.
import type { Api, CallOptions, IfMatch } from "../api.ts";
import { call, callForStream } from "../call.ts";
import { list } from "../list.ts";
import type { List } from "../list.ts";
import type { Query } from "../request.ts";
import type {
  ActivatedWorkflow,
  AddMemberData,
  Agent,
  AgentCases,
  AgentEvaluation,
  AgentExecution,
  AgentPatch,
  AgentQuestion,
  AgentTestAnswer,
  AgentTestQuestion,
  ApiKey,
  Approval,
  AuditEvent,
  Authorization,
  BankAccounts,
  Block,
  BulkRuns,
  BulkRunsResponse,
  CancelledRun,
  CanvasSave,
  ChangeCompanyData,
  ChangePasswordData,
  ChangePasswordResponse,
  ChangeRoleData,
  ChangedWidget,
  CloneWorkflowData,
  ColumnValues,
  ColumnValuesQuery,
  CompareVersionsData,
  ConnectApiKeyResponse,
  Connection,
  ConnectionHealth,
  ConnectionKeys,
  CreateApiKeyData,
  CreateDashboardData,
  CreateSessionData,
  Dashboard,
  DashboardLayout,
  DashboardSummary,
  DecideApprovalData,
  Deleted,
  ExportRowsData,
  Figures,
  FiguresQuery,
  GetAuthUrlData,
  GetWidgetDataResponse,
  ImportTableData,
  ImportedWorkflow,
  ListAgentExecutionsData,
  ListAgentsData,
  ListApiKeysData,
  ListApprovalsData,
  ListAuditLogsData,
  ListBlocksData,
  ListConnectionsData,
  ListDashboardsData,
  ListMembersData,
  ListRowsData,
  ListRunStepsData,
  ListRunsData,
  ListValuesData,
  ListVersionsData,
  ListVersionsResponse,
  ListWebhookDeliveriesData,
  ListWebhookEndpointsData,
  ListWebhookEventsData,
  ListWorkflowRunsData,
  ListWorkflowsData,
  ListedAgentExecution,
  ListedConnection,
  ListedWebhookEvent,
  Member,
  MovedTable,
  NewAgent,
  NewApiKey,
  NewConnection,
  NewConnectionAnswer,
  NewSecret,
  NewTable,
  NewTableFolder,
  NewWebhookEndpoint,
  NewWidget,
  NewWorkflow,
  OwnSession,
  PageMeta,
  PausedWorkflow,
  PlanWorkflowData,
  RefreshedConnection,
  RemoveMemberData,
  RemoveMemberResponse,
  RemovedWidget,
  RepeatedRun,
  RestartRunData,
  RevokeApiKeysData,
  RevokeApiKeysResponse,
  RollbackWorkflowData,
  RolledBackWorkflow,
  Row,
  RowBatch,
  RowBatchResult,
  RowInput,
  RowQuery,
  RowsMeta,
  Run,
  RunListItem,
  RunLogs,
  SaveLayoutData,
  SavedCanvas,
  Schedule,
  ScheduleUpdate,
  Secret,
  SecretRotation,
  SecretValue,
  Session,
  StepResult,
  Table,
  TableFolder,
  TableImport,
  TableMove,
  TablePatch,
  TriggeredRun,
  UpdateDashboardData,
  UpdateRowData,
  UpdatedSchedule,
  VersionComparison,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointPatch,
  WebhookEndpointWithSecret,
  WebhookEvent,
  WebhookEventType,
  WebhookRecovery,
  WebhookRecoveryStart,
  WebhookTest,
  WebhookTestResult,
  WholeWebhookDelivery,
  Widget,
  WidgetUpdate,
  Workflow,
  WorkflowExport,
  WorkflowImport,
  WorkflowPlan,
  WorkflowUpdate,
  WorkflowVersion,
} from "./types.gen.ts";

/**
 * List the blocks of the catalog.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listBlocks(
  api: Api,
  query?: Query<ListBlocksData>,
  options?: CallOptions,
): List<Block> {
  return list(api, { method: "GET", path: "/blocks", query }, options);
}

/**
 * Get a block of the catalog.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getBlock(api: Api, type: string, options?: CallOptions): Promise<Block> {
  return call(api, { method: "GET", path: "/blocks/{type}", params: { type } }, options);
}

/**
 * List workflows, newest first; archived ones only when asked for.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listWorkflows(
  api: Api,
  query?: Query<ListWorkflowsData>,
  options?: CallOptions,
): List<Workflow, PageMeta> {
  return list(api, { method: "GET", path: "/workflows", query }, options);
}

/**
 * Create a workflow.
 *
 * Everything is checked before it is stored: what is wrong with the definition is told with VALIDATION_ERROR, one entry of details for each problem. Description and definition may have 1 MiB together.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.created` in the audit log.
 */
export function createWorkflow(
  api: Api,
  body: NewWorkflow,
  options?: CallOptions,
): Promise<Workflow> {
  return call(api, { method: "POST", path: "/workflows", body }, options);
}

/**
 * Get a workflow.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getWorkflow(api: Api, id: string, options?: CallOptions): Promise<Workflow> {
  return call(api, { method: "GET", path: "/workflows/{id}", params: { id } }, options);
}

/**
 * Replace the given fields of a workflow; an active one gets a new version. With If-Match only while the workflow has that ETag.
 *
 * Fields that are left out stay as they are. Of an active workflow the whole result has to be valid, and the version before goes into its history; others are changed in place, and the version stays. Description and definition may have 1 MiB together.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.updated` in the audit log.
 */
export function updateWorkflow(
  api: Api,
  id: string,
  body?: WorkflowUpdate,
  options?: CallOptions & IfMatch,
): Promise<Workflow> {
  return call(api, { method: "PUT", path: "/workflows/{id}", params: { id }, body }, options);
}

/**
 * Archive a workflow. With If-Match only while the workflow has that ETag.
 *
 * The workflow is kept: its id still reads it, with status archived, and lists show it when asked for. Its schedule and its secrets are deleted; its runs stay. Archiving it again is fine.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.archived` in the audit log.
 */
export function deleteWorkflow(
  api: Api,
  id: string,
  options?: CallOptions & IfMatch,
): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/workflows/{id}", params: { id } }, options);
}

/**
 * Make a draft or paused workflow active.
 *
 * The definition has to be complete and valid. Allowed from draft and paused: else BAD_REQUEST with details {currentStatus, targetStatus, allowedTransitions}.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.activated` in the audit log.
 */
export function activateWorkflow(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<ActivatedWorkflow> {
  return call(api, { method: "POST", path: "/workflows/{id}/activate", params: { id } }, options);
}

/**
 * Pause an active workflow.
 *
 * Allowed from active only: else BAD_REQUEST with details {currentStatus, targetStatus, allowedTransitions}. Runs that have begun go on.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.paused` in the audit log.
 */
export function pauseWorkflow(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<PausedWorkflow> {
  return call(api, { method: "POST", path: "/workflows/{id}/pause", params: { id } }, options);
}

/**
 * Tell what a run of a workflow would do, without doing it.
 *
 * Needs the scope `workflows:read`. Counts as a write request.
 */
export function planWorkflow(
  api: Api,
  id: string,
  body?: NonNullable<PlanWorkflowData["body"]>,
  options?: CallOptions,
): Promise<WorkflowPlan> {
  return call(
    api,
    { method: "POST", path: "/workflows/{id}/plan", params: { id }, body, repeatable: true },
    options,
  );
}

/**
 * Save the visual editor's state, with steps and trigger where they are given; an active workflow then gets a new version.
 *
 * With steps, the save is refused with CONFLICT when status, version or steps changed while it was under way: reload, reconcile and save again. What an active workflow gets has to be complete and valid.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.canvas_saved` in the audit log.
 */
export function saveCanvas(
  api: Api,
  id: string,
  body: CanvasSave,
  options?: CallOptions & IfMatch,
): Promise<SavedCanvas> {
  return call(
    api,
    { method: "PATCH", path: "/workflows/{id}/canvas", params: { id }, body },
    options,
  );
}

/**
 * Copy a workflow, whatever its status; secrets are not copied.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.cloned` in the audit log.
 */
export function cloneWorkflow(
  api: Api,
  id: string,
  body: NonNullable<CloneWorkflowData["body"]>,
  options?: CallOptions,
): Promise<Workflow> {
  return call(
    api,
    { method: "POST", path: "/workflows/{id}/clone", params: { id }, body },
    options,
  );
}

/**
 * Get a workflow as a document that POST /workflows/import takes, anywhere.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function exportWorkflow(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<WorkflowExport> {
  return call(api, { method: "GET", path: "/workflows/{id}/export", params: { id } }, options);
}

/**
 * Create a workflow from an exported one.
 *
 * Takes what GET /workflows/{id}/export gives, of this or another installation. The definition is checked as that of a new workflow.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.imported` in the audit log.
 */
export function importWorkflow(
  api: Api,
  body: WorkflowImport,
  options?: CallOptions,
): Promise<ImportedWorkflow> {
  return call(api, { method: "POST", path: "/workflows/import", body }, options);
}

/**
 * List the versions of a workflow, newest first, the current one included.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listVersions(
  api: Api,
  id: string,
  query?: Query<ListVersionsData>,
  options?: CallOptions,
): List<ListVersionsResponse["data"]["versions"][number], PageMeta> {
  return list(
    api,
    { method: "GET", path: "/workflows/{id}/versions", params: { id }, query, items: "versions" },
    options,
  );
}

/**
 * Get a version of a workflow.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getVersion(
  api: Api,
  id: string,
  version: number,
  options?: CallOptions,
): Promise<WorkflowVersion> {
  return call(
    api,
    { method: "GET", path: "/workflows/{id}/versions/{version}", params: { id, version } },
    options,
  );
}

/**
 * Compare two versions of a workflow.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function compareVersions(
  api: Api,
  id: string,
  query: Query<CompareVersionsData>,
  options?: CallOptions,
): Promise<VersionComparison> {
  return call(
    api,
    { method: "GET", path: "/workflows/{id}/versions/compare", params: { id }, query },
    options,
  );
}

/**
 * Make a new version with the content of an older one; the status stays.
 *
 * The version of an active workflow has to be valid still. Without a summary the record says to which version it went back.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.rolled_back` in the audit log.
 */
export function rollbackWorkflow(
  api: Api,
  id: string,
  version: number,
  body?: NonNullable<RollbackWorkflowData["body"]>,
  options?: CallOptions,
): Promise<RolledBackWorkflow> {
  return call(
    api,
    {
      method: "POST",
      path: "/workflows/{id}/versions/{version}/rollback",
      params: { id, version },
      body,
    },
    options,
  );
}

/**
 * List the runs of a workflow, newest first.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function listWorkflowRuns(
  api: Api,
  id: string,
  query?: Query<ListWorkflowRunsData>,
  options?: CallOptions,
): List<RunListItem, PageMeta> {
  return list(api, { method: "GET", path: "/workflows/{id}/runs", params: { id }, query }, options);
}

/**
 * Get a workflow's schedule.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getSchedule(api: Api, id: string, options?: CallOptions): Promise<Schedule> {
  return call(api, { method: "GET", path: "/workflows/{id}/schedule", params: { id } }, options);
}

/**
 * Change when a workflow's schedule fires, or whether it does.
 *
 * cron takes the place of an interval and the other way round; what is left out stays. The workflow's definition is not touched, and its next activation with another trigger replaces the schedule.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `schedule.updated` in the audit log.
 */
export function updateSchedule(
  api: Api,
  id: string,
  body?: ScheduleUpdate,
  options?: CallOptions,
): Promise<UpdatedSchedule> {
  return call(
    api,
    { method: "PUT", path: "/workflows/{id}/schedule", params: { id }, body },
    options,
  );
}

/**
 * Start a run now, as the workflow's schedule would.
 *
 * Whether the schedule is enabled does not matter, but its workflow has to be active. The run counts as one of the schedule.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request.
 */
export function triggerSchedule(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<TriggeredRun> {
  return call(
    api,
    { method: "POST", path: "/workflows/{id}/schedule/trigger", params: { id } },
    options,
  );
}

/**
 * List runs, newest first.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function listRuns(
  api: Api,
  query?: Query<ListRunsData>,
  options?: CallOptions,
): List<RunListItem, PageMeta> {
  return list(api, { method: "GET", path: "/runs", query }, options);
}

/**
 * Get a run.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function getRun(api: Api, id: string, options?: CallOptions): Promise<Run> {
  return call(api, { method: "GET", path: "/runs/{id}", params: { id } }, options);
}

/**
 * Get what the steps of a run did, in execution order.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function getRunLogs(api: Api, id: string, options?: CallOptions): Promise<RunLogs> {
  return call(api, { method: "GET", path: "/runs/{id}/logs", params: { id } }, options);
}

/**
 * List what the steps of a run did, in execution order.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function listRunSteps(
  api: Api,
  id: string,
  query?: Query<ListRunStepsData>,
  options?: CallOptions,
): List<StepResult, PageMeta> {
  return list(api, { method: "GET", path: "/runs/{id}/steps", params: { id }, query }, options);
}

/**
 * Get what one step of a run did, with its whole input and output.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function getRunStep(
  api: Api,
  id: string,
  path: string,
  options?: CallOptions,
): Promise<StepResult> {
  return call(
    api,
    { method: "GET", path: "/runs/{id}/steps/{path}", params: { id, path } },
    options,
  );
}

/**
 * Cancel a run that has not ended.
 *
 * Allowed until the run has ended; runs of other workflows that it waits for end with it.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.cancelled` in the audit log.
 */
export function cancelRun(api: Api, id: string, options?: CallOptions): Promise<CancelledRun> {
  return call(api, { method: "POST", path: "/runs/{id}/cancel", params: { id } }, options);
}

/**
 * Start a run that goes on where a failed or timed-out one failed.
 *
 * The new run has the input and the version of the original, takes over what came before the first failed step, and begins there. Allowed for runs that are failed or timeout.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.retried` in the audit log.
 */
export function retryRun(api: Api, id: string, options?: CallOptions): Promise<RepeatedRun> {
  return call(api, { method: "POST", path: "/runs/{id}/retry", params: { id } }, options);
}

/**
 * Start a run that repeats an ended one from a step on.
 *
 * The new run has the version of the original and takes over the outputs of the steps before. Allowed for runs that are completed, failed or timeout.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.restarted` in the audit log.
 */
export function restartRun(
  api: Api,
  id: string,
  body: NonNullable<RestartRunData["body"]>,
  options?: CallOptions,
): Promise<RepeatedRun> {
  return call(api, { method: "POST", path: "/runs/{id}/restart", params: { id }, body }, options);
}

/**
 * Cancel or retry many runs, each on its own.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.cancelled` or `run.retried` in the audit log.
 */
export function bulkRuns(
  api: Api,
  body: BulkRuns,
  options?: CallOptions,
): Promise<BulkRunsResponse["data"]> {
  return call(api, { method: "POST", path: "/runs/bulk", body }, options);
}

/**
 * List the approvals of a run in the order in which they were asked for.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function listRunApprovals(api: Api, id: string, options?: CallOptions): List<Approval> {
  return list(api, { method: "GET", path: "/runs/{id}/approvals", params: { id } }, options);
}

/**
 * Approve or reject what a run waits for.
 *
 * Where the step names approvers, only they may decide; others get FORBIDDEN. An approval is decided once.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `approval.decided` in the audit log.
 */
export function decideApproval(
  api: Api,
  id: string,
  approvalId: string,
  body: NonNullable<DecideApprovalData["body"]>,
  options?: CallOptions,
): Promise<Approval> {
  return call(
    api,
    { method: "POST", path: "/runs/{id}/approvals/{approvalId}", params: { id, approvalId }, body },
    options,
  );
}

/**
 * List the company's approvals, newest first.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function listApprovals(
  api: Api,
  query?: Query<ListApprovalsData>,
  options?: CallOptions,
): List<Approval, PageMeta> {
  return list(api, { method: "GET", path: "/approvals", query }, options);
}

/**
 * List a workflow's secrets, without their values.
 *
 * Needs the scope `secrets:read`. Counts as a read request.
 */
export function listSecrets(api: Api, workflowId: string, options?: CallOptions): List<Secret> {
  return list(
    api,
    { method: "GET", path: "/workflows/{workflowId}/secrets", params: { workflowId } },
    options,
  );
}

/**
 * Store a secret for a workflow.
 *
 * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.created` in the audit log.
 */
export function createSecret(
  api: Api,
  workflowId: string,
  body: NewSecret,
  options?: CallOptions,
): Promise<Secret> {
  return call(
    api,
    { method: "POST", path: "/workflows/{workflowId}/secrets", params: { workflowId }, body },
    options,
  );
}

/**
 * Give a secret another value.
 *
 * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.replaced` in the audit log.
 */
export function replaceSecret(
  api: Api,
  workflowId: string,
  key: string,
  body: SecretValue,
  options?: CallOptions,
): Promise<Secret> {
  return call(
    api,
    {
      method: "PUT",
      path: "/workflows/{workflowId}/secrets/{key}",
      params: { workflowId, key },
      body,
    },
    options,
  );
}

/**
 * Delete a secret; later runs that name it fail.
 *
 * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.deleted` in the audit log.
 */
export function deleteSecret(
  api: Api,
  workflowId: string,
  key: string,
  options?: CallOptions,
): Promise<Deleted> {
  return call(
    api,
    {
      method: "DELETE",
      path: "/workflows/{workflowId}/secrets/{key}",
      params: { workflowId, key },
    },
    options,
  );
}

/**
 * Begin to connect an account at a provider.
 *
 * A connection of the provider that is in error, expired or disconnected is authorized again; without one a pending one is made. Other parameters of the query are fields that the provider's addresses need, such as `accountId` of netsuite.
 *
 * Needs the scope `connections:write`. Counts as a read request. Leaves `connection.created` in the audit log.
 */
export function getAuthUrl(
  api: Api,
  provider: string,
  query?: Query<GetAuthUrlData>,
  options?: CallOptions,
): Promise<Authorization> {
  return call(
    api,
    { method: "GET", path: "/connections/{provider}/auth-url", params: { provider }, query },
    options,
  );
}

/**
 * List connections, newest first; abandoned ones only when asked for.
 *
 * Needs the scope `connections:read`. Counts as a read request.
 */
export function listConnections(
  api: Api,
  query?: Query<ListConnectionsData>,
  options?: CallOptions,
): List<ListedConnection, PageMeta> {
  return list(api, { method: "GET", path: "/connections", query }, options);
}

/**
 * Begin to connect an account by OAuth or at a bank, or connect an own application.
 *
 * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.created` in the audit log.
 */
export function createConnection(
  api: Api,
  body: NewConnection,
  options?: CallOptions,
): Promise<NewConnectionAnswer> {
  return call(api, { method: "POST", path: "/connections", body }, options);
}

/**
 * Connect an account with API keys, or replace those of a connection.
 *
 * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.created` or `connection.credentials_replaced` in the audit log.
 */
export function connectApiKey(
  api: Api,
  provider: string,
  body: ConnectionKeys,
  options?: CallOptions,
): Promise<ConnectApiKeyResponse["data"]> {
  return call(
    api,
    { method: "POST", path: "/connections/{provider}/api-key", params: { provider }, body },
    options,
  );
}

/**
 * Get a connection with its metadata, without credentials.
 *
 * Needs the scope `connections:read`. Counts as a read request.
 */
export function getConnection(api: Api, id: string, options?: CallOptions): Promise<Connection> {
  return call(api, { method: "GET", path: "/connections/{id}", params: { id } }, options);
}

/**
 * End a connection and take the access back; steps that use it fail.
 *
 * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.deleted` in the audit log.
 */
export function deleteConnection(api: Api, id: string, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/connections/{id}", params: { id } }, options);
}

/**
 * Renew the credentials; when that fails the status is error.
 *
 * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.refreshed` in the audit log.
 */
export function refreshConnection(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<RefreshedConnection> {
  return call(api, { method: "POST", path: "/connections/{id}/refresh", params: { id } }, options);
}

/**
 * Ask the provider whether the credentials are good.
 *
 * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.verified` in the audit log.
 */
export function verifyConnection(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<ConnectionHealth> {
  return call(api, { method: "POST", path: "/connections/{id}/verify", params: { id } }, options);
}

/**
 * Get the accounts at a bank; lastErrorCode says when it wants a new sign-in.
 *
 * Needs the scope `connections:read`. Counts as a read request.
 */
export function listBankAccounts(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<BankAccounts> {
  return call(
    api,
    { method: "GET", path: "/connections/{id}/plaid/accounts", params: { id } },
    options,
  );
}

/**
 * List agents, newest first and core agents last; deprecated ones only when asked for.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listAgents(
  api: Api,
  query?: Query<ListAgentsData>,
  options?: CallOptions,
): List<Agent, PageMeta> {
  return list(api, { method: "GET", path: "/agents", query }, options);
}

/**
 * Create an agent.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.created` in the audit log.
 */
export function createAgent(api: Api, body: NewAgent, options?: CallOptions): Promise<Agent> {
  return call(api, { method: "POST", path: "/agents", body }, options);
}

/**
 * Get an agent, a core agent or a deprecated one as well.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getAgent(api: Api, id: string, options?: CallOptions): Promise<Agent> {
  return call(api, { method: "GET", path: "/agents/{id}", params: { id } }, options);
}

/**
 * Replace the given fields of an agent of the company; each time it gets a new version.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.updated` in the audit log.
 */
export function updateAgent(
  api: Api,
  id: string,
  body?: AgentPatch,
  options?: CallOptions,
): Promise<Agent> {
  return call(api, { method: "PUT", path: "/agents/{id}", params: { id }, body }, options);
}

/**
 * Deprecate an agent of the company for good; steps that name it fail.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.deleted` in the audit log.
 */
export function deleteAgent(api: Api, id: string, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/agents/{id}", params: { id } }, options);
}

/**
 * Ask an agent of the company without recording it; the tokens count.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request.
 */
export function testAgent(
  api: Api,
  id: string,
  body: AgentTestQuestion,
  options?: CallOptions,
): Promise<AgentTestAnswer> {
  return call(api, { method: "POST", path: "/agents/{id}/test", params: { id }, body }, options);
}

/**
 * Ask an agent and record it; a client that goes away cancels it.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request.
 */
export function executeAgent(
  api: Api,
  id: string,
  body: AgentQuestion,
  options?: CallOptions,
): Promise<AgentExecution> {
  return call(api, { method: "POST", path: "/agents/{id}/execute", params: { id }, body }, options);
}

/**
 * List what an agent was asked, newest first, without input and output.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function listAgentExecutions(
  api: Api,
  id: string,
  query?: Query<ListAgentExecutionsData>,
  options?: CallOptions,
): List<ListedAgentExecution, PageMeta> {
  return list(
    api,
    { method: "GET", path: "/agents/{id}/executions", params: { id }, query },
    options,
  );
}

/**
 * Get one execution of an agent whole.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function getAgentExecution(
  api: Api,
  id: string,
  executionId: string,
  options?: CallOptions,
): Promise<AgentExecution> {
  return call(
    api,
    { method: "GET", path: "/agents/{id}/executions/{executionId}", params: { id, executionId } },
    options,
  );
}

/**
 * Ask an agent for up to 50 cases and compare the answers with what is expected.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request.
 */
export function evaluateAgent(
  api: Api,
  id: string,
  body: AgentCases,
  options?: CallOptions,
): Promise<AgentEvaluation> {
  return call(
    api,
    { method: "POST", path: "/agents/{id}/evaluate", params: { id }, body },
    options,
  );
}

/**
 * List webhook endpoints, newest first.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listWebhookEndpoints(
  api: Api,
  query?: Query<ListWebhookEndpointsData>,
  options?: CallOptions,
): List<WebhookEndpoint, PageMeta> {
  return list(api, { method: "GET", path: "/webhook-endpoints", query }, options);
}

/**
 * Create a webhook endpoint; only this answer and that of rotate-secret show a secret.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.created` in the audit log.
 */
export function createWebhookEndpoint(
  api: Api,
  body: NewWebhookEndpoint,
  options?: CallOptions,
): Promise<WebhookEndpointWithSecret> {
  return call(api, { method: "POST", path: "/webhook-endpoints", body }, options);
}

/**
 * Get a webhook endpoint.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getWebhookEndpoint(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<WebhookEndpoint> {
  return call(api, { method: "GET", path: "/webhook-endpoints/{id}", params: { id } }, options);
}

/**
 * Replace the given fields of a webhook endpoint; active again, it gets what was held.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.updated` in the audit log.
 */
export function updateWebhookEndpoint(
  api: Api,
  id: string,
  body?: WebhookEndpointPatch,
  options?: CallOptions,
): Promise<WebhookEndpoint> {
  return call(
    api,
    { method: "PUT", path: "/webhook-endpoints/{id}", params: { id }, body },
    options,
  );
}

/**
 * Delete a webhook endpoint with its deliveries.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.deleted` in the audit log.
 */
export function deleteWebhookEndpoint(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/webhook-endpoints/{id}", params: { id } }, options);
}

/**
 * Give a webhook endpoint a new secret; the one before signs too for the overlap.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.secret_rotated` in the audit log.
 */
export function rotateWebhookSecret(
  api: Api,
  id: string,
  body?: SecretRotation,
  options?: CallOptions,
): Promise<WebhookEndpointWithSecret> {
  return call(
    api,
    { method: "POST", path: "/webhook-endpoints/{id}/rotate-secret", params: { id }, body },
    options,
  );
}

/**
 * Send the example of an event type now and say what came back, whatever the endpoint's status.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.tested` in the audit log.
 */
export function testWebhookEndpoint(
  api: Api,
  id: string,
  body?: WebhookTest,
  options?: CallOptions,
): Promise<WebhookTestResult> {
  return call(
    api,
    { method: "POST", path: "/webhook-endpoints/{id}/test", params: { id }, body },
    options,
  );
}

/**
 * Queue the failed deliveries of a webhook endpoint again, up to 10,000 a call, newest first.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.recovered` in the audit log.
 */
export function recoverWebhookEndpoint(
  api: Api,
  id: string,
  body: WebhookRecoveryStart,
  options?: CallOptions,
): Promise<WebhookRecovery> {
  return call(
    api,
    { method: "POST", path: "/webhook-endpoints/{id}/recover", params: { id }, body },
    options,
  );
}

/**
 * List deliveries of a webhook endpoint, newest first; with a filter pages may be short.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listWebhookDeliveries(
  api: Api,
  id: string,
  query?: Query<ListWebhookDeliveriesData>,
  options?: CallOptions,
): List<WebhookDelivery, PageMeta> {
  return list(
    api,
    { method: "GET", path: "/webhook-endpoints/{id}/deliveries", params: { id }, query },
    options,
  );
}

/**
 * Get a delivery with its request and its attempts.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getWebhookDelivery(
  api: Api,
  id: string,
  deliveryId: string,
  options?: CallOptions,
): Promise<WholeWebhookDelivery> {
  return call(
    api,
    {
      method: "GET",
      path: "/webhook-endpoints/{id}/deliveries/{deliveryId}",
      params: { id, deliveryId },
    },
    options,
  );
}

/**
 * Queue a delivery again, due at once, whatever has become of it.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_delivery.retried` in the audit log.
 */
export function retryWebhookDelivery(
  api: Api,
  id: string,
  deliveryId: string,
  options?: CallOptions,
): Promise<WebhookDelivery> {
  return call(
    api,
    {
      method: "POST",
      path: "/webhook-endpoints/{id}/deliveries/{deliveryId}/retry",
      params: { id, deliveryId },
    },
    options,
  );
}

/**
 * List the types of events that webhook endpoints can get.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listWebhookEventTypes(api: Api, options?: CallOptions): List<WebhookEventType> {
  return list(api, { method: "GET", path: "/webhook-event-types" }, options);
}

/**
 * List the inbound events that were kept, newest first.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function listWebhookEvents(
  api: Api,
  query?: Query<ListWebhookEventsData>,
  options?: CallOptions,
): List<ListedWebhookEvent, PageMeta> {
  return list(api, { method: "GET", path: "/webhook-events", query }, options);
}

/**
 * Get an inbound event with its payload.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function getWebhookEvent(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<WebhookEvent> {
  return call(api, { method: "GET", path: "/webhook-events/{id}", params: { id } }, options);
}

/**
 * Take an inbound event in once more, for the workflows that match now.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `webhook_event.replayed` in the audit log.
 */
export function replayWebhookEvent(
  api: Api,
  id: string,
  options?: CallOptions,
): Promise<ListedWebhookEvent> {
  return call(
    api,
    { method: "POST", path: "/webhook-events/{id}/replay", params: { id } },
    options,
  );
}

/**
 * List the API keys that were not revoked, newest first.
 *
 * Needs the scope `api_keys:read`. Counts as a read request.
 */
export function listApiKeys(
  api: Api,
  query?: Query<ListApiKeysData>,
  options?: CallOptions,
): List<ApiKey, PageMeta> {
  return list(api, { method: "GET", path: "/auth/api-keys", query }, options);
}

/**
 * Make an API key with scopes that the caller has.
 *
 * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.created` in the audit log.
 */
export function createApiKey(
  api: Api,
  body: NonNullable<CreateApiKeyData["body"]>,
  options?: CallOptions,
): Promise<NewApiKey> {
  return call(api, { method: "POST", path: "/auth/api-keys", body }, options);
}

/**
 * Revoke all API keys that a person, or a key, has made, directly or through other keys.
 *
 * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.revoked` in the audit log.
 */
export function revokeApiKeys(
  api: Api,
  query: Query<RevokeApiKeysData>,
  options?: CallOptions,
): Promise<RevokeApiKeysResponse["data"]> {
  return call(api, { method: "DELETE", path: "/auth/api-keys", query }, options);
}

/**
 * Revoke an API key: it is refused everywhere within seconds.
 *
 * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.revoked` in the audit log.
 */
export function revokeApiKey(api: Api, keyId: string, options?: CallOptions): Promise<Deleted> {
  return call(
    api,
    { method: "DELETE", path: "/auth/api-keys/{keyId}", params: { keyId } },
    options,
  );
}

/**
 * Show who is signed in, and the companies of that person.
 *
 * For people who are signed in; an API key gets 403. Counts as a read request.
 */
export function getSession(api: Api, options?: CallOptions): Promise<OwnSession> {
  return call(api, { method: "GET", path: "/auth/session" }, options);
}

/**
 * Sign in; the answer sets the session's cookie.
 *
 * The cookie `wfs_session` is HttpOnly and SameSite=Lax. Too many tries are refused with RATE_LIMITED. Pages of other sites are refused with FORBIDDEN.
 *
 * Needs no credential. Leaves `session.created` or `session.refused` in the audit log.
 */
export function createSession(
  api: Api,
  body: NonNullable<CreateSessionData["body"]>,
  options?: CallOptions,
): Promise<Session> {
  return call(api, { method: "POST", path: "/auth/session", body }, options);
}

/**
 * Change over to another company of one's own; the answer sets a new cookie.
 *
 * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `session.ended` or `session.created` or `member.joined` in the audit log.
 */
export function changeCompany(
  api: Api,
  body: NonNullable<ChangeCompanyData["body"]>,
  options?: CallOptions,
): Promise<OwnSession> {
  return call(api, { method: "PUT", path: "/auth/session", body }, options);
}

/**
 * Sign out.
 *
 * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `session.ended` in the audit log.
 */
export function deleteSession(api: Api, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/auth/session" }, options);
}

/**
 * Change one's password; all other sessions end.
 *
 * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `password.changed` in the audit log.
 */
export function changePassword(
  api: Api,
  body: NonNullable<ChangePasswordData["body"]>,
  options?: CallOptions,
): Promise<ChangePasswordResponse["data"]> {
  return call(api, { method: "POST", path: "/auth/password", body }, options);
}

/**
 * List the people of the company, newest first.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listMembers(
  api: Api,
  query?: Query<ListMembersData>,
  options?: CallOptions,
): List<Member, PageMeta> {
  return list(api, { method: "GET", path: "/members", query }, options);
}

/**
 * Add a person to the company.
 *
 * Whoever has an account already is invited, and accepts with the password given here; the answer is the same. A company that is full is refused with BAD_REQUEST.
 *
 * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.added` in the audit log.
 */
export function addMember(
  api: Api,
  body: NonNullable<AddMemberData["body"]>,
  options?: CallOptions,
): Promise<Member> {
  return call(api, { method: "POST", path: "/members", body }, options);
}

/**
 * Give a member another role.
 *
 * Only a signed-in owner may make an owner or change one. The last owner stays one: CONFLICT.
 *
 * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.role_changed` in the audit log.
 */
export function changeRole(
  api: Api,
  userId: string,
  body: NonNullable<ChangeRoleData["body"]>,
  options?: CallOptions,
): Promise<Member> {
  return call(
    api,
    { method: "PATCH", path: "/members/{userId}", params: { userId }, body },
    options,
  );
}

/**
 * Remove a person from the company; the person's sessions in it end.
 *
 * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.removed` or `api_key.revoked` in the audit log.
 */
export function removeMember(
  api: Api,
  userId: string,
  query?: Query<RemoveMemberData>,
  options?: CallOptions,
): Promise<RemoveMemberResponse["data"]> {
  return call(
    api,
    { method: "DELETE", path: "/members/{userId}", params: { userId }, query },
    options,
  );
}

/**
 * List who changed what, newest first.
 *
 * Needs the scope `audit:read`. Counts as a read request.
 */
export function listAuditLogs(
  api: Api,
  query?: Query<ListAuditLogsData>,
  options?: CallOptions,
): List<AuditEvent, PageMeta> {
  return list(api, { method: "GET", path: "/audit-logs", query }, options);
}

/**
 * List the company's dashboards without their widgets, newest first.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listDashboards(
  api: Api,
  query?: Query<ListDashboardsData>,
  options?: CallOptions,
): List<DashboardSummary, PageMeta> {
  return list(api, { method: "GET", path: "/dashboards", query }, options);
}

/**
 * Create a dashboard without widgets, owned by the signed-in person.
 *
 * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.created` in the audit log.
 */
export function createDashboard(
  api: Api,
  body: NonNullable<CreateDashboardData["body"]>,
  options?: CallOptions,
): Promise<Dashboard> {
  return call(api, { method: "POST", path: "/dashboards", body }, options);
}

/**
 * Read a dashboard with its widgets and where they lie.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getDashboard(api: Api, id: string, options?: CallOptions): Promise<Dashboard> {
  return call(api, { method: "GET", path: "/dashboards/{id}", params: { id } }, options);
}

/**
 * Change a dashboard's name or description.
 *
 * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.updated` in the audit log.
 */
export function updateDashboard(
  api: Api,
  id: string,
  body: NonNullable<UpdateDashboardData["body"]>,
  options?: CallOptions,
): Promise<Dashboard> {
  return call(api, { method: "PATCH", path: "/dashboards/{id}", params: { id }, body }, options);
}

/**
 * Delete a dashboard and its widgets.
 *
 * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.deleted` in the audit log.
 */
export function deleteDashboard(api: Api, id: string, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/dashboards/{id}", params: { id } }, options);
}

/**
 * Add a widget where there is room for it.
 *
 * A dashboard has at most 40 widgets. Only its owner may change it.
 *
 * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_added` in the audit log.
 */
export function createWidget(
  api: Api,
  id: string,
  body: NewWidget,
  options?: CallOptions,
): Promise<Widget> {
  return call(
    api,
    { method: "POST", path: "/dashboards/{id}/widgets", params: { id }, body },
    options,
  );
}

/**
 * Change a widget or move it; what is not given stays, members of its config too.
 *
 * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_updated` in the audit log.
 */
export function updateWidget(
  api: Api,
  id: string,
  widgetId: string,
  body: WidgetUpdate,
  options?: CallOptions,
): Promise<ChangedWidget> {
  return call(
    api,
    {
      method: "PATCH",
      path: "/dashboards/{id}/widgets/{widgetId}",
      params: { id, widgetId },
      body,
    },
    options,
  );
}

/**
 * Remove a widget; the gap that it leaves closes.
 *
 * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_removed` in the audit log.
 */
export function deleteWidget(
  api: Api,
  id: string,
  widgetId: string,
  options?: CallOptions,
): Promise<RemovedWidget> {
  return call(
    api,
    { method: "DELETE", path: "/dashboards/{id}/widgets/{widgetId}", params: { id, widgetId } },
    options,
  );
}

/**
 * Save where all widgets of a dashboard lie, or none.
 *
 * A layout that leaves out widgets is refused with CONFLICT and their ids in details: load the dashboard again. Only the owner may change it.
 *
 * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.layout_updated` in the audit log.
 */
export function saveLayout(
  api: Api,
  id: string,
  body: NonNullable<SaveLayoutData["body"]>,
  options?: CallOptions,
): Promise<DashboardLayout> {
  return call(
    api,
    { method: "PUT", path: "/dashboards/{id}/layout", params: { id }, body },
    options,
  );
}

/**
 * Read what a widget shows.
 *
 * What there is goes by the widget's config. One without a source, or whose column is gone, is refused with BAD_REQUEST; one whose table is gone with NOT_FOUND.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getWidgetData(
  api: Api,
  id: string,
  widgetId: string,
  options?: CallOptions,
): Promise<GetWidgetDataResponse["data"]> {
  return call(
    api,
    { method: "GET", path: "/dashboards/{id}/widgets/{widgetId}/data", params: { id, widgetId } },
    options,
  );
}

/**
 * List all tables, newest first.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listTables(api: Api, options?: CallOptions): List<Table> {
  return list(api, { method: "GET", path: "/tables" }, options);
}

/**
 * Create a table without rows.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.created` in the audit log.
 */
export function createTable(api: Api, body: NewTable, options?: CallOptions): Promise<Table> {
  return call(api, { method: "POST", path: "/tables", body }, options);
}

/**
 * Create a table with rows from JSON or from a CSV file, all or nothing.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.created` in the audit log.
 */
export function importTable(
  api: Api,
  body: TableImport | string,
  options?: CallOptions & { query?: Query<ImportTableData> },
): Promise<Table> {
  return call(api, { method: "POST", path: "/tables/import", body, textType: "text/csv" }, options);
}

/**
 * Read a table, without its rows.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getTable(api: Api, id: string, options?: CallOptions): Promise<Table> {
  return call(api, { method: "GET", path: "/tables/{id}", params: { id } }, options);
}

/**
 * Replace the given fields of a table; its rows stay as they are.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.updated` in the audit log.
 */
export function updateTable(
  api: Api,
  id: string,
  body?: TablePatch,
  options?: CallOptions,
): Promise<Table> {
  return call(api, { method: "PATCH", path: "/tables/{id}", params: { id }, body }, options);
}

/**
 * Delete a table and its rows.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.deleted` in the audit log.
 */
export function deleteTable(api: Api, id: string, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/tables/{id}", params: { id } }, options);
}

/**
 * Read a page of the rows that match a filter, in the order of a column.
 *
 * Needs the scope `workflows:read`. Counts as a write request.
 */
export function queryRows(
  api: Api,
  id: string,
  body?: RowQuery,
  options?: CallOptions,
): List<Row, RowsMeta> {
  return list(
    api,
    { method: "POST", path: "/tables/{id}/rows/query", params: { id }, body, repeatable: true },
    options,
  );
}

/**
 * Read a page of rows: the older form of the query, with all of it in the address.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listRows(
  api: Api,
  id: string,
  query?: Query<ListRowsData>,
  options?: CallOptions,
): List<Row, RowsMeta> {
  return list(api, { method: "GET", path: "/tables/{id}/rows", params: { id }, query }, options);
}

/**
 * Add a row at the end of a table; keys that no column declares are kept.
 *
 * Needs the scope `workflows:write`. Counts as a write request.
 */
export function insertRow(
  api: Api,
  id: string,
  body: RowInput,
  options?: CallOptions,
): Promise<Row> {
  return call(api, { method: "POST", path: "/tables/{id}/rows", params: { id }, body }, options);
}

/**
 * Insert, update and delete rows in this order, all or nothing.
 *
 * Needs the scope `workflows:write`. Counts as a write request.
 */
export function batchRows(
  api: Api,
  id: string,
  body: RowBatch,
  options?: CallOptions,
): Promise<RowBatchResult> {
  return call(
    api,
    { method: "POST", path: "/tables/{id}/rows/batch", params: { id }, body },
    options,
  );
}

/**
 * Save all rows of a table as a CSV or JSON Lines file.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function exportRows(
  api: Api,
  id: string,
  query: Query<ExportRowsData>,
  options?: CallOptions,
): Promise<ReadableStream<Uint8Array>> {
  return callForStream(
    api,
    { method: "GET", path: "/tables/{id}/rows/export", params: { id }, query, accept: "*/*" },
    options,
  );
}

/**
 * Read a row.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getRow(api: Api, id: string, rowId: string, options?: CallOptions): Promise<Row> {
  return call(
    api,
    { method: "GET", path: "/tables/{id}/rows/{rowId}", params: { id, rowId } },
    options,
  );
}

/**
 * Replace the data of a row; with merge=true, only the members that are given.
 *
 * Needs the scope `workflows:write`. Counts as a write request.
 */
export function updateRow(
  api: Api,
  id: string,
  rowId: string,
  body: RowInput,
  options?: CallOptions & { query?: Query<UpdateRowData> },
): Promise<Row> {
  return call(
    api,
    { method: "PATCH", path: "/tables/{id}/rows/{rowId}", params: { id, rowId }, body },
    options,
  );
}

/**
 * Delete a row.
 *
 * Needs the scope `workflows:write`. Counts as a write request.
 */
export function deleteRow(
  api: Api,
  id: string,
  rowId: string,
  options?: CallOptions,
): Promise<Deleted> {
  return call(
    api,
    { method: "DELETE", path: "/tables/{id}/rows/{rowId}", params: { id, rowId } },
    options,
  );
}

/**
 * Count the different values that a column has in the rows that match a filter.
 *
 * Needs the scope `workflows:read`. Counts as a write request.
 */
export function queryValues(
  api: Api,
  id: string,
  columnId: string,
  body?: ColumnValuesQuery,
  options?: CallOptions,
): Promise<ColumnValues> {
  return call(
    api,
    {
      method: "POST",
      path: "/tables/{id}/columns/{columnId}/values/query",
      params: { id, columnId },
      body,
      repeatable: true,
    },
    options,
  );
}

/**
 * Count the different values of a column: the older form, with all of it in the address.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listValues(
  api: Api,
  id: string,
  columnId: string,
  query?: Query<ListValuesData>,
  options?: CallOptions,
): Promise<ColumnValues> {
  return call(
    api,
    {
      method: "GET",
      path: "/tables/{id}/columns/{columnId}/values",
      params: { id, columnId },
      query,
    },
    options,
  );
}

/**
 * Compute figures of the rows that match a filter, for all of them or by the values of a column.
 *
 * Needs the scope `workflows:read`. Counts as a write request.
 */
export function aggregateRows(
  api: Api,
  id: string,
  body: FiguresQuery,
  options?: CallOptions,
): Promise<Figures> {
  return call(
    api,
    { method: "POST", path: "/tables/{id}/aggregate", params: { id }, body, repeatable: true },
    options,
  );
}

/**
 * List all folders of tables in the order of their names.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listFolders(api: Api, options?: CallOptions): List<TableFolder> {
  return list(api, { method: "GET", path: "/table-folders" }, options);
}

/**
 * Create a folder of tables.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `table_folder.created` in the audit log.
 */
export function createFolder(
  api: Api,
  body: NewTableFolder,
  options?: CallOptions,
): Promise<TableFolder> {
  return call(api, { method: "POST", path: "/table-folders", body }, options);
}

/**
 * Put a table into a folder, or back to the root.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.moved` in the audit log.
 */
export function moveTable(
  api: Api,
  tableId: string,
  body: TableMove,
  options?: CallOptions,
): Promise<MovedTable> {
  return call(
    api,
    { method: "PATCH", path: "/table-folders/tables/{tableId}", params: { tableId }, body },
    options,
  );
}
