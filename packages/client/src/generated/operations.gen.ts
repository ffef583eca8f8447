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
 * A block is a kind of step or trigger that an editor offers. The catalog is the same for all companies and has no data of any of them. It says what a field is called and when it is needed; what a provider takes of a value shows when a step runs.
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
 * The block's inputs, outputs and fields are those of the list. A type that is unknown or hidden is NOT_FOUND.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getBlock(api: Api, type: string, options?: CallOptions): Promise<Block> {
  return call(api, { method: "GET", path: "/blocks/{type}", params: { type } }, options);
}

/**
 * List workflows.
 *
 * The newest workflow comes first, each with its steps. Archived ones stand in the list only with `status=archived`. `search` finds a part of the name.
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
 * The workflow is a draft of version 1 and does not run before it is activated. The whole definition is checked first: VALIDATION_ERROR has an entry in `details` for each problem, and nothing is stored. Steps may name secrets, connections and agents that are not there yet; a plan tells which are missing. Name, description and definition may have 1 MiB together. Each request makes a workflow, so a repeated one makes another.
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
 * The answer has the steps of the current version and, where there is one, the state of the visual editor. An archived workflow is still found by its id. The `ETag` changes with every change and is what `If-Match` takes.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getWorkflow(api: Api, id: string, options?: CallOptions): Promise<Workflow> {
  return call(api, { method: "GET", path: "/workflows/{id}", params: { id } }, options);
}

/**
 * Change a workflow.
 *
 * Fields that are left out stay as they are. An active workflow gets a new version, and the version before goes into its history; runs that have begun keep theirs. A draft or paused workflow is changed in place, and its version stays. What an active workflow gets has to be complete and valid: else VALIDATION_ERROR, and nothing changes. With `If-Match` the change is made only while the workflow has that `ETag`, else PRECONDITION_FAILED. Changes that keep coming in between end in CONFLICT; repeat the request.
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
 * Archive a workflow.
 *
 * The workflow is kept with status archived: its id still reads it, and it starts no more runs. Its schedule and its secrets are deleted; its runs stay. There is no way back; a copy can be made with clone. Archiving it again changes nothing and answers the same.
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
 * Activate a workflow.
 *
 * A draft or paused workflow becomes active: its trigger starts runs from now on, and callers may run it. The definition has to be complete and valid, else VALIDATION_ERROR names what is wrong. A schedule trigger makes the workflow's schedule, and the answer says when it fires next. From another status it is BAD_REQUEST with `details` {currentStatus, targetStatus, allowedTransitions}.
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
 * The workflow starts no runs until it is activated again, and its schedule is disabled. Runs that have begun go on to their end. From another status it is BAD_REQUEST with `details` {currentStatus, targetStatus, allowedTransitions}.
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
 * Tell what a run of a workflow would do.
 *
 * Nothing runs, and nothing is stored: the answer says what is wrong, what is missing, and what each step would get. Templates are resolved as far as the given `input` goes; outputs of steps stay templates, and secrets are never resolved. Of one company two plans are made at a time in a process and 32 may wait; beyond that it is RATE_LIMITED.
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
 * Save the canvas of a workflow.
 *
 * The state of the visual editor is stored as it is; steps and trigger change only where they are given. Unfinished loops and parallels may be saved while the workflow is not active. An active workflow gets a new version with them, which has to be complete and valid. A save with steps is refused with CONFLICT when status, version or steps changed meanwhile: reload, reconcile and save again.
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
 * Copy a workflow.
 *
 * The copy is a draft of version 1, whatever the status of the original, and says so in `clonedFrom`. Definition and canvas are copied; secrets, schedule, versions and runs are not.
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
 * Export a workflow.
 *
 * The document has what its author wrote: name, definition and canvas. It has no id, no status and no secret, so that POST /workflows/import takes it in any company or installation.
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
 * Import a workflow.
 *
 * The document is what GET /workflows/{id}/export gives, of this or another installation. A draft of version 1 is made, after the same checks as of a new workflow. `requires` says which secrets, connections and agents it names and has to find here.
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
 * List the versions of a workflow.
 *
 * The newest version comes first, with the current one at the head. Only changes of an active workflow and rollbacks make versions.
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
 * The current version and each archived one can be read by its number. A number that the workflow never had is NOT_FOUND.
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
 * The answer says whether name, description and trigger differ, and which steps were added, removed or modified. Steps are compared by their ids. Both versions have to exist, else NOT_FOUND.
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
 * Go back to an older version of a workflow.
 *
 * A new version is made with the content of the older one; the status stays, and no version is lost. The older version has to be valid still where the workflow is active, else VALIDATION_ERROR. Without `changeSummary` the record says to which version it went back. An unknown version is NOT_FOUND; changes that keep coming in between are CONFLICT.
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
 * List the runs of a workflow.
 *
 * The newest run comes first, without input, output and step results. `status=active` stands for pending, running and waiting_approval. All given filters have to match.
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
 * Get the schedule of a workflow.
 *
 * The answer says when the schedule fires next, how often it has fired, and what went wrong last. After ten failures in a row a schedule is disabled, and `lastError` says so. A workflow that was never activated with a schedule trigger has none: NOT_FOUND.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getSchedule(api: Api, id: string, options?: CallOptions): Promise<Schedule> {
  return call(api, { method: "GET", path: "/workflows/{id}/schedule", params: { id } }, options);
}

/**
 * Change the schedule of a workflow.
 *
 * What is left out stays; `cron` takes the place of an interval and the other way round. `enabled: false` keeps the schedule from firing. The workflow's definition is not touched, and its next activation with another trigger replaces the schedule. A wrong expression or time zone is refused, and enabling it while the workflow is paused is WORKFLOW_NOT_ACTIVE.
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
 * Start a run as the schedule would.
 *
 * The run starts at once and counts as one of the schedule; when it fires next does not change. It makes no difference whether the schedule is enabled, but the workflow has to be active: else WORKFLOW_NOT_ACTIVE. Each request starts a run.
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
 * List runs.
 *
 * The runs of all workflows of the company, the newest first, without input, output and step results. `status=active` stands for pending, running and waiting_approval. All given filters have to match.
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
 * The answer has the run's input and output, and the results of its steps in execution order. Inputs and outputs of steps have 8 MiB together; those beyond are null with `truncated`, and GET /runs/{id}/steps/{path} has them whole. A run that goes on may be asked for again with `If-None-Match`, or followed with GET /runs/{id}/events. Who reads many large runs at once waits up to ten seconds, then it is RATE_LIMITED with `details.limit` `reading`.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function getRun(api: Api, id: string, options?: CallOptions): Promise<Run> {
  return call(api, { method: "GET", path: "/runs/{id}", params: { id } }, options);
}

/**
 * Get the step results of a run.
 *
 * The results stand in execution order; a step that was repeated has one, with its earlier attempts in `previousAttempts`. Inputs and outputs have 8 MiB together; those beyond are null with `truncated`.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function getRunLogs(api: Api, id: string, options?: CallOptions): Promise<RunLogs> {
  return call(api, { method: "GET", path: "/runs/{id}/logs", params: { id } }, options);
}

/**
 * List the step results of a run.
 *
 * A page has results in execution order, those of nested steps included. Their inputs and outputs have 8 MiB together; those beyond are null with `truncated`. While a run goes on, a page may lack a step that began before its last one and has not ended.
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
 * Get the result of one step of a run.
 *
 * Input and output are whole, however large. `path` names nested steps from the top down, such as `loop1[2].child`. A step without a result is NOT_FOUND.
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
 * Cancel a run.
 *
 * The run becomes cancelled at once; a step that is under way is given up, and runs of other workflows that it waits for end too. What its steps have done outside is not undone. A run that has ended cannot be cancelled: INVALID_STATE.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.cancelled` in the audit log.
 */
export function cancelRun(api: Api, id: string, options?: CallOptions): Promise<CancelledRun> {
  return call(api, { method: "POST", path: "/runs/{id}/cancel", params: { id } }, options);
}

/**
 * Retry a failed run.
 *
 * A new run begins at the first failed step with the input and the version of the original. What came before is taken over and not done again. Only runs that are failed or timeout can be retried, else INVALID_STATE. Each request starts a run; too many pending ones are RATE_LIMITED with `details.limit` `backlog`.
 *
 * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.retried` in the audit log.
 */
export function retryRun(api: Api, id: string, options?: CallOptions): Promise<RepeatedRun> {
  return call(api, { method: "POST", path: "/runs/{id}/retry", params: { id } }, options);
}

/**
 * Restart a run from a step.
 *
 * A new run begins at `fromStepId`, inclusive, with the version of the original; the outputs of the steps before are taken over. `overrideInput` is merged over the input: objects member by member at every depth, any other value, an array too, as a whole. Only runs that are completed, failed or timeout can be restarted, else INVALID_STATE; an unknown step is INVALID_STEP. Each request starts a run, which names the original in `restartedFromRunId`.
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
 * Cancel or retry many runs.
 *
 * The runs are named, or they are the newest 500 that a filter finds and with which it can be done. Each run is judged on its own: `results` has an entry for each, and an error where it could not be done. So the answer is 200 even when none was changed. The request counts once, however many runs it names.
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
 * List the approvals of a run.
 *
 * The approvals stand in the order in which they were asked for, those that were decided included. A run that asked for none has an empty list.
 *
 * Needs the scope `runs:read`. Counts as a read request.
 */
export function listRunApprovals(api: Api, id: string, options?: CallOptions): List<Approval> {
  return list(api, { method: "GET", path: "/runs/{id}/approvals", params: { id } }, options);
}

/**
 * Approve or reject what a run waits for.
 *
 * An approval lets the run go on, with the decision as the step's output; a rejection fails the step. Where the step names approvers, only they may decide: others get FORBIDDEN. `data` has to fit the step's `form`, else BAD_REQUEST. An approval is decided once: CONFLICT when somebody did, or when its time is over.
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
 * List the approvals of the company.
 *
 * The newest approval comes first, of all runs. `status=waiting` lists what people still have to decide.
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
 * List the secrets of a workflow.
 *
 * The values are never shown: `maskedValue` has the last characters at most. `lastUsedAt` says when a run last used it.
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
 * The value is encrypted, and no answer, log or record of a run shows it again. Steps name it as `{{secrets.KEY}}`; with `allowedHosts` they can send it to those hosts alone. A key that the workflow has already is CONFLICT; its value is replaced with PUT. A key of another form, or an empty value, is VALIDATION_ERROR. A workflow has at most 1,000 secrets; one more is BAD_REQUEST.
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
 * Replace the value of a secret.
 *
 * Later runs get the new value, and the one before is gone. The key has to exist, else NOT_FOUND. Replacing it again by the same is fine.
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
 * Delete a secret.
 *
 * The value is gone at once. Steps that name it stay as they are: later runs fail with a missing-secret error until it is made again or the workflow changed.
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
 * Begin to connect an account.
 *
 * The answer has the address to which the person is sent to give consent, and the connection stays pending until then. A connection of the provider that is in error, expired or disconnected is authorized again, and `isNew` is false; without one a pending one is made. With an active one it is BAD_REQUEST: disconnect it first. Providers with API keys are BAD_REQUEST here; see POST /connections/{provider}/api-key. Other parameters of the query are fields that the provider's addresses need, such as `accountId` of netsuite. Of a company 100 attempts may be open, each for 24 hours. It makes a connection, so HEAD is refused with 405.
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
 * List connections.
 *
 * The newest connection comes first, without metadata and never with credentials. Attempts that were abandoned stand in the list only with `status=abandoned`.
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
 * Connect an account.
 *
 * By OAuth or at a bank the connection is pending, and `oauthUrl` is where the person gives consent. An own application is active at once, with the account that it names. Providers with API keys are BAD_REQUEST here; see POST /connections/{provider}/api-key. A company has 1,000 connections at most, else BAD_REQUEST with `details.limit` `connections`.
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
 * Connect an account with an API key.
 *
 * The provider is asked first whether the key is good: a bad one is BAD_REQUEST, and nothing is stored. 201 is a new active connection; with `connectionId` the credentials of that one are replaced, which is 200. A provider that cannot be asked is 502 UPSTREAM_ERROR: try again, and keep the key. The key is encrypted and never shown again.
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
 * Get a connection.
 *
 * The answer has the metadata, and `errorMessage` says what is wrong with one in error. Credentials are never shown.
 *
 * Needs the scope `connections:read`. Counts as a read request.
 */
export function getConnection(api: Api, id: string, options?: CallOptions): Promise<Connection> {
  return call(api, { method: "GET", path: "/connections/{id}", params: { id } }, options);
}

/**
 * Disconnect an account.
 *
 * The credentials are deleted at once, and the access is taken back at the provider or broker afterwards. Workflows that use the connection fail from now on. A connection that was authorized stays as disconnected and can be authorized again; one by API key is gone.
 *
 * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.deleted` in the audit log.
 */
export function deleteConnection(api: Api, id: string, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/connections/{id}", params: { id } }, options);
}

/**
 * Renew the credentials of a connection.
 *
 * The provider is asked for new credentials now, which otherwise happens by itself before they end. When it refuses, the answer is 500 INTERNAL_ERROR and the connection's status is error. `lastSyncedAt` says when they were renewed.
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
 * Check the credentials of a connection.
 *
 * The provider is asked, and the answer is 200 whatever it says: see `healthy`, `status` and `error`. Bad credentials set the status to error. A provider that cannot be reached changes nothing, and a pending connection is not asked for.
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
 * List the accounts at a bank.
 *
 * The bank is asked by way of its provider each time. Where it wants a new sign-in, the list is empty and `lastErrorCode` has the provider's code. A connection of another provider is BAD_REQUEST; a provider that cannot be reached is 502 UPSTREAM_ERROR.
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
 * List agents.
 *
 * The company's agents come first, the newest at the head, then the core agents of all companies. Deprecated ones stand in the list only with `status=deprecated`. A page may end early where prompts and schemas are large; `meta.hasMore` counts.
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
 * The agent can be asked at once, by steps and directly; its version is 1. The name has to be one that no other active agent of the company has, else BAD_REQUEST. Provider and model have to belong together; without either the provider is openai. With an `outputSchema` answers are JSON that fits it, without one they are text. A company has 1,000 active agents at most, else BAD_REQUEST with `details.limit` `agents`.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.created` in the audit log.
 */
export function createAgent(api: Api, body: NewAgent, options?: CallOptions): Promise<Agent> {
  return call(api, { method: "POST", path: "/agents", body }, options);
}

/**
 * Get an agent.
 *
 * A core agent and a deprecated one are found as well. A deprecated agent cannot be asked any more.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getAgent(api: Api, id: string, options?: CallOptions): Promise<Agent> {
  return call(api, { method: "GET", path: "/agents/{id}", params: { id } }, options);
}

/**
 * Change an agent.
 *
 * Fields that are left out stay; null clears `description` and `outputSchema`. Each update raises the version by one, and questions from then on meet the new one. Core agents and deprecated ones cannot be changed: BAD_REQUEST.
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
 * Deprecate an agent.
 *
 * The agent can still be read and never be asked again; its name is free. Steps that name it fail, runs that have begun included. Core agents cannot be deprecated: BAD_REQUEST. A second time is fine.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.deleted` in the audit log.
 */
export function deleteAgent(api: Api, id: string, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/agents/{id}", params: { id } }, options);
}

/**
 * Try out an agent.
 *
 * The agent is asked once, and nothing is recorded; the tokens count all the same. An answer that does not fit the schema is still 200, with `schemaValid: false` and an `error`. Core agents cannot be tested this way: BAD_REQUEST. A provider that gives no answer is 502 UPSTREAM_ERROR; a day's tokens that are used up are RATE_LIMITED with `details.limit` `agentTokens`.
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
 * Ask an agent.
 *
 * The question, the answer and the tokens are recorded as an execution, which is the answer. Where the output does not fit the schema after two repairs, the answer is 200 with `status: failed`. A provider that gives no answer is 502 UPSTREAM_ERROR with the `executionId`; a day's tokens that are used up are RATE_LIMITED with `details.limit` `agentTokens`. A client that goes away cancels the question; after four minutes it ends by itself. A repeated request asks, and is paid for, once more.
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
 * List the executions of an agent.
 *
 * The newest execution comes first, without input, message and output. Those that steps have asked for are among them, with their `workflowRunId`.
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
 * Get an execution of an agent.
 *
 * The answer has all of it: input, output, raw output and tokens. Secrets are masked in what was recorded.
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
 * Judge an agent by cases.
 *
 * The agent is asked for each of up to 50 cases, and the answers are compared with what is expected; nothing is recorded. The answer is 200 even when all cases fail: see `passed`, `failed` and `results`. Another `systemPrompt` may be judged before it becomes the agent's. Of a company one evaluation runs at a time, for five minutes at most, and its tokens count.
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
 * List webhook endpoints.
 *
 * The newest endpoint comes first, without secrets. A disabled one says why in `disabledReason`.
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
 * Create a webhook endpoint.
 *
 * From now on the endpoint gets a signed POST for each event of a run that its `events` and `workflowIds` let through. The secret is shown here and by rotate-secret only: keep it to verify signatures. The address has to be https and public, else BAD_REQUEST. A delivery that fails is tried eight times in all; ten failures in a row disable the endpoint.
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
 * The answer has everything but the secret. `consecutiveFailures` says how near it is to being disabled.
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
 * Change a webhook endpoint.
 *
 * Fields that are left out stay. `status: disabled` stops deliveries, and `status: active` begins them again. An endpoint that was disabled because its receiver failed gets what was held for it meanwhile.
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
 * Delete a webhook endpoint.
 *
 * The endpoint and its deliveries are gone, those that were still pending included. A delivery that is on its way at that moment may still arrive.
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
 * Replace the secret of a webhook endpoint.
 *
 * The new secret is shown here only. For the overlap, 24 hours unless said otherwise, deliveries have a signature of each secret, so that a receiver can change over. `overlapSeconds: 0` ends the old secret at once.
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
 * Send a test to a webhook endpoint.
 *
 * The example of an event type is sent now, whatever the endpoint's status, and the answer says what came back. It is 200 also when the receiver refused or could not be reached: see `success`, `statusCode` and `error`. The test stands among the deliveries, and is not repeated. 24 tests of a company may be under way, else RATE_LIMITED with `details.limit` `tests`.
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
 * Queue failed deliveries again.
 *
 * Up to 10,000 failed deliveries since a time are queued, the newest first; `hasMore` says whether to call again. Deliveries that succeeded or are pending are not touched.
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
 * List the deliveries of a webhook endpoint.
 *
 * The newest delivery comes first, without request and attempts. With a filter a page may be short although there are more; `meta.hasMore` counts.
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
 * Get a delivery.
 *
 * The answer has the request as it was sent, without signatures and secrets, and each attempt with what came back. Of a receiver's answer the first 4 KiB are kept.
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
 * Queue a delivery again.
 *
 * The delivery is due at once, whatever has become of it; the receiver tells a repeat by the same event id. Tests are not repeated: INVALID_STATE.
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
 * List the types of events.
 *
 * These are the events that webhook endpoints can get, each with the JSON Schema and an example of its body. The list is the same for all companies.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listWebhookEventTypes(api: Api, options?: CallOptions): List<WebhookEventType> {
  return list(api, { method: "GET", path: "/webhook-event-types" }, options);
}

/**
 * List inbound events.
 *
 * Everything that came in for the company by a webhook is here, the newest first, whether it started runs or not. `status=ignored` lists those that no workflow waited for.
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
 * Get an inbound event.
 *
 * The answer has the payload as it came, and the runs that it started.
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
 * Replay an inbound event.
 *
 * A new event is made of the old one, for the workflows that match now. It starts runs even where the old one did, and names it in `replayedFrom`. The answer comes before the runs are started; read the new event to see them.
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
 * List API keys.
 *
 * The newest key comes first; keys that have expired are in the list, revoked ones are not. The keys themselves are not known here any more: `keyPrefix` is what is left. `createdBy` finds those that a person or a key made, directly or through other keys.
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
 * Create an API key.
 *
 * The key is shown in this answer only; a hash of it is stored. It may have scopes that its maker has, and no others: else FORBIDDEN. With `expiresAt` it is refused from then on. Each request makes a key; a company has at most 1,000, and one more is BAD_REQUEST.
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
 * Revoke the API keys of a person or a key.
 *
 * All keys are revoked that the person or key in `createdBy` made, directly or through other keys. `revoked` says how many; none is fine too.
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
 * Revoke an API key.
 *
 * The key is refused at once here, and everywhere within seconds. There is no way back.
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
 * Show who is signed in.
 *
 * The answer has the person, the company that the session is for, the role in it, and all companies of the person. Companies with `invited` are yet to be joined, by PUT.
 *
 * For people who are signed in; an API key gets 403. Counts as a read request.
 */
export function getSession(api: Api, options?: CallOptions): Promise<OwnSession> {
  return call(api, { method: "GET", path: "/auth/session" }, options);
}

/**
 * Sign in.
 *
 * The answer sets the cookie `wfs_session`, which is HttpOnly and SameSite=Lax. Unknown person, wrong password and wrong company are the same UNAUTHORIZED. Too many tries are refused with RATE_LIMITED, of an address, a network or an account. Pages of other sites are refused with FORBIDDEN. A session ends after 12 hours without use, and after seven days in any case.
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
 * Change over to another company.
 *
 * The answer sets a new cookie, and the old one is refused from then on. Role and scopes are those of the other company. An invitation is accepted with the password that the company gave. A company that the person is no member of is NOT_FOUND.
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
 * The session ends at once, and the cookie is taken back. Other sessions of the person go on.
 *
 * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `session.ended` in the audit log.
 */
export function deleteSession(api: Api, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/auth/session" }, options);
}

/**
 * Change the own password.
 *
 * The current password has to be right; it is guessed at ten times a minute at most. All other sessions of the person end, this one goes on. API keys stay as they are.
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
 * List the people of the company.
 *
 * The newest member comes first, each with the role in this company. A person may be in other companies, which are not told.
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
 * A new person gets an account with the password that is given here. Whoever has an account already is invited, and accepts with that password; the answer is the same. Only a signed-in owner may make an owner, else FORBIDDEN. A company that is full is refused with BAD_REQUEST, a member already with CONFLICT.
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
 * The new role counts within seconds, also for sessions that are open. Only a signed-in owner may make an owner or change one, else FORBIDDEN. The last owner stays one: CONFLICT.
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
 * Remove a person from the company.
 *
 * The person's sessions in the company end; the account stays for other companies. API keys that the person made stay, unless `revokeKeys` is true. The last owner cannot be removed: CONFLICT.
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
 * List who changed what.
 *
 * The newest change comes first, with who made it, from where, and what changed. The entries cannot be changed or removed through the API. They are written in the background, so that one may show up a moment after its change.
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
 * List dashboards.
 *
 * The newest dashboard comes first, of all people of the company, without widgets. Who owns it may change it; everybody with the scope may read it.
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
 * Create a dashboard.
 *
 * The dashboard is empty and belongs to the person who is signed in. Only that person may change it.
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
 * Get a dashboard.
 *
 * The answer has its widgets and where they lie on a grid of 12 columns. What a widget shows is read apart, by its `data`.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getDashboard(api: Api, id: string, options?: CallOptions): Promise<Dashboard> {
  return call(api, { method: "GET", path: "/dashboards/{id}", params: { id } }, options);
}

/**
 * Change a dashboard.
 *
 * Name and description change where they are given; null clears the description. Only the owner may: for others it is NOT_FOUND.
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
 * Delete a dashboard.
 *
 * The dashboard and its widgets are gone; the tables and runs that they showed are not touched. Only the owner may: for others it is NOT_FOUND.
 *
 * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.deleted` in the audit log.
 */
export function deleteDashboard(api: Api, id: string, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/dashboards/{id}", params: { id } }, options);
}

/**
 * Add a widget to a dashboard.
 *
 * The widget is put where there is room for it; a place is not asked for. A dashboard has at most 40 widgets. Only the owner may add one: for others it is NOT_FOUND.
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
 * Change or move a widget.
 *
 * What is not given stays, members of the config too. A move needs all of x, y, w and h; other widgets make room, and `layout` says where all of them lie then.
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
 * Remove a widget.
 *
 * The gap that the widget leaves closes, and `layout` says where the others lie then. Only the owner may: for others it is NOT_FOUND.
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
 * Save the layout of a dashboard.
 *
 * All widgets get their places at once, or none does; gaps close and overlaps are resolved, so take the places of the answer. A layout that leaves out widgets is refused with CONFLICT and their ids in `details`: load the dashboard again. A widget of another dashboard, a repeated id or a place off the grid is BAD_REQUEST. Nothing but places changes.
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
 * What the answer has depends on the widget's config: figures of runs, or rows or figures of a table. A widget without a source, or whose column is gone, is BAD_REQUEST; one whose table is gone is NOT_FOUND.
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
 * List tables.
 *
 * All tables of the company, the newest first, without rows. There are no pages.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listTables(api: Api, options?: CallOptions): List<Table> {
  return list(api, { method: "GET", path: "/tables" }, options);
}

/**
 * Create a table.
 *
 * The table has no rows; its columns say how rows are shown, filtered and sorted. A column without an id gets one, which rows, filters and sorting use. Columns are advice: rows keep every key that is written. Each request makes a table, also of the same name. A company has at most 1,000 tables; one more is BAD_REQUEST.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.created` in the audit log.
 */
export function createTable(api: Api, body: NewTable, options?: CallOptions): Promise<Table> {
  return call(api, { method: "POST", path: "/tables", body }, options);
}

/**
 * Create a table with rows.
 *
 * The table and all rows are made, or nothing is: a row that cannot be taken is BAD_REQUEST with its path. The body is JSON, or with `format=csv` a CSV file whose types are guessed unless `columns` says them. More rows than `maxRows` are BAD_REQUEST; the body may have 64 MiB. It counts as one write request. A company has at most 1,000 tables; one more is BAD_REQUEST.
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
 * Get a table.
 *
 * The answer has the columns and how many rows there are. Rows are read by POST /tables/{id}/rows/query.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function getTable(api: Api, id: string, options?: CallOptions): Promise<Table> {
  return call(api, { method: "GET", path: "/tables/{id}", params: { id } }, options);
}

/**
 * Change a table.
 *
 * Fields that are left out stay; `columns`, `schema` and `metadata` are replaced as wholes. Rows stay as they are, also data of columns that are gone. What all tables of a company say about themselves may have 16 MiB: else BAD_REQUEST. Fewer `maxRows` than there are rows only keeps more from being added.
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
 * Delete a table.
 *
 * The table is gone with all of its rows, and there is no way back. Steps and widgets that name it fail from then on.
 *
 * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.deleted` in the audit log.
 */
export function deleteTable(api: Api, id: string, options?: CallOptions): Promise<Deleted> {
  return call(api, { method: "DELETE", path: "/tables/{id}", params: { id } }, options);
}

/**
 * Find rows.
 *
 * A page has the rows that match the filter, in the order of a column or else in the table's own. Clauses of several columns have to match all; a clause has a condition, a list of values, or both. An unknown column or an operator that its type does not have is BAD_REQUEST, with every place in `details`. `meta.total` counts all rows that match; an offset beyond it answers no rows. The body may have 512 KiB.
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
 * List rows.
 *
 * This is the older form of POST /tables/{id}/rows/query, with the filter in the address. A clause of the filter may also be a plain text, number or boolean that the value has to contain. Long filters belong into the other form.
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
 * Add a row.
 *
 * The row stands at the end of the table; keys that no column declares are kept. A table that is full is BAD_REQUEST: `Table has reached its maximum row limit of N`. Where the table has `rowEvents`, workflows that wait for its rows are started. Each request adds a row.
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
 * Change many rows at once.
 *
 * Rows are inserted, updated and deleted in this order, and all of it happens or nothing does. A batch has 1 to 1,000 changes, and names each row once. A row that is not there is NOT_FOUND, with the ids in `details.rowIds`. It counts as one write request.
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
 * Export the rows of a table.
 *
 * All rows come as a file, in the table's order, while they are read. CSV has a line of the columns' names; JSON Lines has an object with id and data for each row. A connection that breaks off means that the file is not whole.
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
 * Get a row.
 *
 * The data is as it was written, keys that no column declares included. A row of another table is NOT_FOUND.
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
 * Change a row.
 *
 * All of the data is replaced; with `merge=true` only the members that are given, each as a whole. The row keeps its place. Where the table has `rowEvents`, workflows that wait for its rows are started.
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
 * The row is gone, and `rowCount` is one less. A second time it is NOT_FOUND.
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
 * Count the values of a column.
 *
 * The answer has the different values of the rows that match the filter, and how many rows have each. What the filter says of the column itself does not count, as in a menu that offers its values. Missing keys, null and empty texts are one value, null. `truncated` says that there are more: search more narrowly.
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
 * List the values of a column.
 *
 * This is the older form of POST /tables/{id}/columns/{columnId}/values/query, with all of it in the address. Every filtered column has to be one that the table declares.
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
 * Compute figures of rows.
 *
 * Count, sum, mean, least and greatest are computed without reading rows, for all that match or for each value of a column. Values that do not fit the column count in nothing but `count`. More than 10,000 groups are BAD_REQUEST: filter the rows.
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
 * List the folders of tables.
 *
 * The folders stand in the order of their names, each with the ids of its tables. There are no pages.
 *
 * Needs the scope `workflows:read`. Counts as a read request.
 */
export function listFolders(api: Api, options?: CallOptions): List<TableFolder> {
  return list(api, { method: "GET", path: "/table-folders" }, options);
}

/**
 * Create a folder of tables.
 *
 * Folders are one level deep; they cannot be renamed or deleted. A name that the company has already, in the same case, is CONFLICT. Their number has no limit; all together may have 16 MiB, each with its name and 100 bytes: else BAD_REQUEST.
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
 * Move a table into a folder.
 *
 * A table lies in one folder, or with `folderId: null` in the root. A table or folder that is not the company's is NOT_FOUND. Moving it where it lies already is fine.
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
