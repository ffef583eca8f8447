// Made from services/gateway/openapi.json by `npm run client:generate`.
import {
  activateWorkflow,
  addMember,
  aggregateRows,
  batchRows,
  bulkRuns,
  cancelRun,
  changeCompany,
  changePassword,
  changeRole,
  cloneWorkflow,
  compareVersions,
  connectApiKey,
  createAgent,
  createApiKey,
  createConnection,
  createDashboard,
  createFolder,
  createSecret,
  createSession,
  createTable,
  createWebhookEndpoint,
  createWidget,
  createWorkflow,
  decideApproval,
  deleteAgent,
  deleteConnection,
  deleteDashboard,
  deleteRow,
  deleteSecret,
  deleteSession,
  deleteTable,
  deleteWebhookEndpoint,
  deleteWidget,
  deleteWorkflow,
  evaluateAgent,
  executeAgent,
  exportRows,
  exportWorkflow,
  getAgent,
  getAgentExecution,
  getAuthUrl,
  getBlock,
  getConnection,
  getDashboard,
  getRow,
  getRun,
  getRunLogs,
  getRunStep,
  getSchedule,
  getSession,
  getTable,
  getVersion,
  getWebhookDelivery,
  getWebhookEndpoint,
  getWebhookEvent,
  getWidgetData,
  getWorkflow,
  importTable,
  importWorkflow,
  insertRow,
  listAgentExecutions,
  listAgents,
  listApiKeys,
  listApprovals,
  listAuditLogs,
  listBankAccounts,
  listBlocks,
  listConnections,
  listDashboards,
  listFolders,
  listMembers,
  listRows,
  listRunApprovals,
  listRunSteps,
  listRuns,
  listSecrets,
  listTables,
  listValues,
  listVersions,
  listWebhookDeliveries,
  listWebhookEndpoints,
  listWebhookEventTypes,
  listWebhookEvents,
  listWorkflowRuns,
  listWorkflows,
  moveTable,
  pauseWorkflow,
  planWorkflow,
  queryRows,
  queryValues,
  recoverWebhookEndpoint,
  refreshConnection,
  removeMember,
  replaceSecret,
  replayWebhookEvent,
  restartRun,
  retryRun,
  retryWebhookDelivery,
  revokeApiKey,
  revokeApiKeys,
  rollbackWorkflow,
  rotateWebhookSecret,
  saveCanvas,
  saveLayout,
  testAgent,
  testWebhookEndpoint,
  triggerSchedule,
  updateAgent,
  updateDashboard,
  updateRow,
  updateSchedule,
  updateTable,
  updateWebhookEndpoint,
  updateWidget,
  updateWorkflow,
  verifyConnection,
} from "./operations.gen.ts";

/** Every operation that is one call, by what it is about. */
export const RESOURCES = {
  blocks: {
    /**
     * List the blocks of the catalog.
     *
     * A block is a kind of step or trigger that an editor offers. The catalog is the same for all companies and has no data of any of them. It says what a field is called and when it is needed; what a provider takes of a value shows when a step runs.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listBlocks,
    /**
     * Get a block of the catalog.
     *
     * The block's inputs, outputs and fields are those of the list. A type that is unknown or hidden is NOT_FOUND.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getBlock,
  },
  workflows: {
    /**
     * List workflows.
     *
     * The newest workflow comes first, each with its steps. Archived ones stand in the list only with `status=archived`. `search` finds a part of the name.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listWorkflows,
    /**
     * Create a workflow.
     *
     * The workflow is a draft of version 1 and does not run before it is activated. The whole definition is checked first: VALIDATION_ERROR has an entry in `details` for each problem, and nothing is stored. Steps may name secrets, connections and agents that are not there yet; a plan tells which are missing. Name, description and definition may have 1 MiB together. Each request makes a workflow, so a repeated one makes another.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.created` in the audit log.
     */
    create: createWorkflow,
    /**
     * Get a workflow.
     *
     * The answer has the steps of the current version and, where there is one, the state of the visual editor. An archived workflow is still found by its id. The `ETag` changes with every change and is what `If-Match` takes.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getWorkflow,
    /**
     * Change a workflow.
     *
     * Fields that are left out stay as they are. An active workflow gets a new version, and the version before goes into its history; runs that have begun keep theirs. A draft or paused workflow is changed in place, and its version stays. What an active workflow gets has to be complete and valid: else VALIDATION_ERROR, and nothing changes. With `If-Match` the change is made only while the workflow has that `ETag`, else PRECONDITION_FAILED. Changes that keep coming in between end in CONFLICT; repeat the request.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.updated` in the audit log.
     */
    update: updateWorkflow,
    /**
     * Archive a workflow.
     *
     * The workflow is kept with status archived: its id still reads it, and it starts no more runs. Its schedule and its secrets are deleted; its runs stay. There is no way back; a copy can be made with clone. Archiving it again changes nothing and answers the same.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.archived` in the audit log.
     */
    delete: deleteWorkflow,
    /**
     * Activate a workflow.
     *
     * A draft or paused workflow becomes active: its trigger starts runs from now on, and callers may run it. The definition has to be complete and valid, else VALIDATION_ERROR names what is wrong. A schedule trigger makes the workflow's schedule, and the answer says when it fires next. From another status it is BAD_REQUEST with `details` {currentStatus, targetStatus, allowedTransitions}.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.activated` in the audit log.
     */
    activate: activateWorkflow,
    /**
     * Pause an active workflow.
     *
     * The workflow starts no runs until it is activated again, and its schedule is disabled. Runs that have begun go on to their end. From another status it is BAD_REQUEST with `details` {currentStatus, targetStatus, allowedTransitions}.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.paused` in the audit log.
     */
    pause: pauseWorkflow,
    /**
     * Tell what a run of a workflow would do.
     *
     * Nothing runs, and nothing is stored: the answer says what is wrong, what is missing, and what each step would get. Templates are resolved as far as the given `input` goes; outputs of steps stay templates, and secrets are never resolved. Of one company two plans are made at a time in a process and 32 may wait; beyond that it is RATE_LIMITED.
     *
     * Needs the scope `workflows:read`. Counts as a write request.
     */
    plan: planWorkflow,
    /**
     * Save the canvas of a workflow.
     *
     * The state of the visual editor is stored as it is; steps and trigger change only where they are given. Unfinished loops and parallels may be saved while the workflow is not active. An active workflow gets a new version with them, which has to be complete and valid. A save with steps is refused with CONFLICT when status, version or steps changed meanwhile: reload, reconcile and save again.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.canvas_saved` in the audit log.
     */
    saveCanvas: saveCanvas,
    /**
     * Copy a workflow.
     *
     * The copy is a draft of version 1, whatever the status of the original, and says so in `clonedFrom`. Definition and canvas are copied; secrets, schedule, versions and runs are not.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.cloned` in the audit log.
     */
    clone: cloneWorkflow,
    /**
     * Export a workflow.
     *
     * The document has what its author wrote: name, definition and canvas. It has no id, no status and no secret, so that POST /workflows/import takes it in any company or installation.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    export: exportWorkflow,
    /**
     * Import a workflow.
     *
     * The document is what GET /workflows/{id}/export gives, of this or another installation. A draft of version 1 is made, after the same checks as of a new workflow. `requires` says which secrets, connections and agents it names and has to find here.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.imported` in the audit log.
     */
    import: importWorkflow,
    /**
     * List the runs of a workflow.
     *
     * The newest run comes first, without input, output and step results. `status=active` stands for pending, running and waiting_approval. All given filters have to match.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    listRuns: listWorkflowRuns,
  },
  versions: {
    /**
     * List the versions of a workflow.
     *
     * The newest version comes first, with the current one at the head. Only changes of an active workflow and rollbacks make versions.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listVersions,
    /**
     * Get a version of a workflow.
     *
     * The current version and each archived one can be read by its number. A number that the workflow never had is NOT_FOUND.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getVersion,
    /**
     * Compare two versions of a workflow.
     *
     * The answer says whether name, description and trigger differ, and which steps were added, removed or modified. Steps are compared by their ids. Both versions have to exist, else NOT_FOUND.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    compare: compareVersions,
    /**
     * Go back to an older version of a workflow.
     *
     * A new version is made with the content of the older one; the status stays, and no version is lost. The older version has to be valid still where the workflow is active, else VALIDATION_ERROR. Without `changeSummary` the record says to which version it went back. An unknown version is NOT_FOUND; changes that keep coming in between are CONFLICT.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.rolled_back` in the audit log.
     */
    rollback: rollbackWorkflow,
  },
  schedules: {
    /**
     * Get the schedule of a workflow.
     *
     * The answer says when the schedule fires next, how often it has fired, and what went wrong last. After ten failures in a row a schedule is disabled, and `lastError` says so. A workflow that was never activated with a schedule trigger has none: NOT_FOUND.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getSchedule,
    /**
     * Change the schedule of a workflow.
     *
     * What is left out stays; `cron` takes the place of an interval and the other way round. `enabled: false` keeps the schedule from firing. The workflow's definition is not touched, and its next activation with another trigger replaces the schedule. A wrong expression or time zone is refused, and enabling it while the workflow is paused is WORKFLOW_NOT_ACTIVE.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `schedule.updated` in the audit log.
     */
    update: updateSchedule,
    /**
     * Start a run as the schedule would.
     *
     * The run starts at once and counts as one of the schedule; when it fires next does not change. It makes no difference whether the schedule is enabled, but the workflow has to be active: else WORKFLOW_NOT_ACTIVE. Each request starts a run.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request.
     */
    trigger: triggerSchedule,
  },
  runs: {
    /**
     * List runs.
     *
     * The runs of all workflows of the company, the newest first, without input, output and step results. `status=active` stands for pending, running and waiting_approval. All given filters have to match.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    list: listRuns,
    /**
     * Get a run.
     *
     * The answer has the run's input and output, and the results of its steps in execution order. Inputs and outputs of steps have 8 MiB together; those beyond are null with `truncated`, and GET /runs/{id}/steps/{path} has them whole. A run that goes on may be asked for again with `If-None-Match`, or followed with GET /runs/{id}/events. Who reads many large runs at once waits up to ten seconds, then it is RATE_LIMITED with `details.limit` `reading`.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    get: getRun,
    /**
     * Get the step results of a run.
     *
     * The results stand in execution order; a step that was repeated has one, with its earlier attempts in `previousAttempts`. Inputs and outputs have 8 MiB together; those beyond are null with `truncated`.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    getLogs: getRunLogs,
    /**
     * List the step results of a run.
     *
     * A page has results in execution order, those of nested steps included. Their inputs and outputs have 8 MiB together; those beyond are null with `truncated`. While a run goes on, a page may lack a step that began before its last one and has not ended.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    listSteps: listRunSteps,
    /**
     * Get the result of one step of a run.
     *
     * Input and output are whole, however large. `path` names nested steps from the top down, such as `loop1[2].child`. A step without a result is NOT_FOUND.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    getStep: getRunStep,
    /**
     * Cancel a run.
     *
     * The run becomes cancelled at once; a step that is under way is given up, and runs of other workflows that it waits for end too. What its steps have done outside is not undone. A run that has ended cannot be cancelled: INVALID_STATE.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.cancelled` in the audit log.
     */
    cancel: cancelRun,
    /**
     * Retry a failed run.
     *
     * A new run begins at the first failed step with the input and the version of the original. What came before is taken over and not done again. Only runs that are failed or timeout can be retried, else INVALID_STATE. Each request starts a run; too many pending ones are RATE_LIMITED with `details.limit` `backlog`.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.retried` in the audit log.
     */
    retry: retryRun,
    /**
     * Restart a run from a step.
     *
     * A new run begins at `fromStepId`, inclusive, with the version of the original; the outputs of the steps before are taken over. `overrideInput` is merged over the input: objects member by member at every depth, any other value, an array too, as a whole. Only runs that are completed, failed or timeout can be restarted, else INVALID_STATE; an unknown step is INVALID_STEP. Each request starts a run, which names the original in `restartedFromRunId`.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.restarted` in the audit log.
     */
    restart: restartRun,
    /**
     * Cancel or retry many runs.
     *
     * The runs are named, or they are the newest 500 that a filter finds and with which it can be done. Each run is judged on its own: `results` has an entry for each, and an error where it could not be done. So the answer is 200 even when none was changed. The request counts once, however many runs it names.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.cancelled` or `run.retried` in the audit log.
     */
    bulk: bulkRuns,
  },
  approvals: {
    /**
     * List the approvals of a run.
     *
     * The approvals stand in the order in which they were asked for, those that were decided included. A run that asked for none has an empty list.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    listOfRun: listRunApprovals,
    /**
     * Approve or reject what a run waits for.
     *
     * An approval lets the run go on, with the decision as the step's output; a rejection fails the step. Where the step names approvers, only they may decide: others get FORBIDDEN. `data` has to fit the step's `form`, else BAD_REQUEST. An approval is decided once: CONFLICT when somebody did, or when its time is over.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `approval.decided` in the audit log.
     */
    decide: decideApproval,
    /**
     * List the approvals of the company.
     *
     * The newest approval comes first, of all runs. `status=waiting` lists what people still have to decide.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    list: listApprovals,
  },
  secrets: {
    /**
     * List the secrets of a workflow.
     *
     * The values are never shown: `maskedValue` has the last characters at most. `lastUsedAt` says when a run last used it.
     *
     * Needs the scope `secrets:read`. Counts as a read request.
     */
    list: listSecrets,
    /**
     * Store a secret for a workflow.
     *
     * The value is encrypted, and no answer, log or record of a run shows it again. Steps name it as `{{secrets.KEY}}`; with `allowedHosts` they can send it to those hosts alone. A key that the workflow has already is CONFLICT; its value is replaced with PUT. A key of another form, or an empty value, is VALIDATION_ERROR. A workflow has at most 1,000 secrets; one more is BAD_REQUEST.
     *
     * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.created` in the audit log.
     */
    create: createSecret,
    /**
     * Replace the value of a secret.
     *
     * Later runs get the new value, and the one before is gone. The key has to exist, else NOT_FOUND. Replacing it again by the same is fine.
     *
     * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.replaced` in the audit log.
     */
    replace: replaceSecret,
    /**
     * Delete a secret.
     *
     * The value is gone at once. Steps that name it stay as they are: later runs fail with a missing-secret error until it is made again or the workflow changed.
     *
     * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.deleted` in the audit log.
     */
    delete: deleteSecret,
  },
  connections: {
    /**
     * Begin to connect an account.
     *
     * The answer has the address to which the person is sent to give consent, and the connection stays pending until then. A connection of the provider that is in error, expired or disconnected is authorized again, and `isNew` is false; without one a pending one is made. With an active one it is BAD_REQUEST: disconnect it first. Providers with API keys are BAD_REQUEST here; see POST /connections/{provider}/api-key. Other parameters of the query are fields that the provider's addresses need, such as `accountId` of netsuite. Of a company 100 attempts may be open, each for 24 hours. It makes a connection, so HEAD is refused with 405.
     *
     * Needs the scope `connections:write`. Counts as a read request. Leaves `connection.created` in the audit log.
     */
    getAuthUrl: getAuthUrl,
    /**
     * List connections.
     *
     * The newest connection comes first, without metadata and never with credentials. Attempts that were abandoned stand in the list only with `status=abandoned`.
     *
     * Needs the scope `connections:read`. Counts as a read request.
     */
    list: listConnections,
    /**
     * Connect an account.
     *
     * By OAuth or at a bank the connection is pending, and `oauthUrl` is where the person gives consent. An own application is active at once, with the account that it names. Providers with API keys are BAD_REQUEST here; see POST /connections/{provider}/api-key. A company has 1,000 connections at most, else BAD_REQUEST with `details.limit` `connections`.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.created` in the audit log.
     */
    create: createConnection,
    /**
     * Connect an account with an API key.
     *
     * The provider is asked first whether the key is good: a bad one is BAD_REQUEST, and nothing is stored. 201 is a new active connection; with `connectionId` the credentials of that one are replaced, which is 200. A provider that cannot be asked is 502 UPSTREAM_ERROR: try again, and keep the key. The key is encrypted and never shown again.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.created` or `connection.credentials_replaced` in the audit log.
     */
    connectApiKey: connectApiKey,
    /**
     * Get a connection.
     *
     * The answer has the metadata, and `errorMessage` says what is wrong with one in error. Credentials are never shown.
     *
     * Needs the scope `connections:read`. Counts as a read request.
     */
    get: getConnection,
    /**
     * Disconnect an account.
     *
     * The credentials are deleted at once, and the access is taken back at the provider or broker afterwards. Workflows that use the connection fail from now on. A connection that was authorized stays as disconnected and can be authorized again; one by API key is gone.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.deleted` in the audit log.
     */
    delete: deleteConnection,
    /**
     * Renew the credentials of a connection.
     *
     * The provider is asked for new credentials now, which otherwise happens by itself before they end. When it refuses, the answer is 500 INTERNAL_ERROR and the connection's status is error. `lastSyncedAt` says when they were renewed.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.refreshed` in the audit log.
     */
    refresh: refreshConnection,
    /**
     * Check the credentials of a connection.
     *
     * The provider is asked, and the answer is 200 whatever it says: see `healthy`, `status` and `error`. Bad credentials set the status to error. A provider that cannot be reached changes nothing, and a pending connection is not asked for.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.verified` in the audit log.
     */
    verify: verifyConnection,
    /**
     * List the accounts at a bank.
     *
     * The bank is asked by way of its provider each time. Where it wants a new sign-in, the list is empty and `lastErrorCode` has the provider's code. A connection of another provider is BAD_REQUEST; a provider that cannot be reached is 502 UPSTREAM_ERROR.
     *
     * Needs the scope `connections:read`. Counts as a read request.
     */
    listBankAccounts: listBankAccounts,
  },
  agents: {
    /**
     * List agents.
     *
     * The company's agents come first, the newest at the head, then the core agents of all companies. Deprecated ones stand in the list only with `status=deprecated`. A page may end early where prompts and schemas are large; `meta.hasMore` counts.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listAgents,
    /**
     * Create an agent.
     *
     * The agent can be asked at once, by steps and directly; its version is 1. The name has to be one that no other active agent of the company has, else BAD_REQUEST. Provider and model have to belong together; without either the provider is openai. With an `outputSchema` answers are JSON that fits it, without one they are text. A company has 1,000 active agents at most, else BAD_REQUEST with `details.limit` `agents`.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.created` in the audit log.
     */
    create: createAgent,
    /**
     * Get an agent.
     *
     * A core agent and a deprecated one are found as well. A deprecated agent cannot be asked any more.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getAgent,
    /**
     * Change an agent.
     *
     * Fields that are left out stay; null clears `description` and `outputSchema`. Each update raises the version by one, and questions from then on meet the new one. Core agents and deprecated ones cannot be changed: BAD_REQUEST.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.updated` in the audit log.
     */
    update: updateAgent,
    /**
     * Deprecate an agent.
     *
     * The agent can still be read and never be asked again; its name is free. Steps that name it fail, runs that have begun included. Core agents cannot be deprecated: BAD_REQUEST. A second time is fine.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.deleted` in the audit log.
     */
    delete: deleteAgent,
    /**
     * Try out an agent.
     *
     * The agent is asked once, and nothing is recorded; the tokens count all the same. An answer that does not fit the schema is still 200, with `schemaValid: false` and an `error`. Core agents cannot be tested this way: BAD_REQUEST. A provider that gives no answer is 502 UPSTREAM_ERROR; a day's tokens that are used up are RATE_LIMITED with `details.limit` `agentTokens`.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request.
     */
    test: testAgent,
    /**
     * Ask an agent.
     *
     * The question, the answer and the tokens are recorded as an execution, which is the answer. Where the output does not fit the schema after two repairs, the answer is 200 with `status: failed`. A provider that gives no answer is 502 UPSTREAM_ERROR with the `executionId`; a day's tokens that are used up are RATE_LIMITED with `details.limit` `agentTokens`. A client that goes away cancels the question; after four minutes it ends by itself. A repeated request asks, and is paid for, once more.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request.
     */
    execute: executeAgent,
    /**
     * List the executions of an agent.
     *
     * The newest execution comes first, without input, message and output. Those that steps have asked for are among them, with their `workflowRunId`.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    listExecutions: listAgentExecutions,
    /**
     * Get an execution of an agent.
     *
     * The answer has all of it: input, output, raw output and tokens. Secrets are masked in what was recorded.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    getExecution: getAgentExecution,
    /**
     * Judge an agent by cases.
     *
     * The agent is asked for each of up to 50 cases, and the answers are compared with what is expected; nothing is recorded. The answer is 200 even when all cases fail: see `passed`, `failed` and `results`. Another `systemPrompt` may be judged before it becomes the agent's. Of a company one evaluation runs at a time, for five minutes at most, and its tokens count.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request.
     */
    evaluate: evaluateAgent,
  },
  webhookEndpoints: {
    /**
     * List webhook endpoints.
     *
     * The newest endpoint comes first, without secrets. A disabled one says why in `disabledReason`.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listWebhookEndpoints,
    /**
     * Create a webhook endpoint.
     *
     * From now on the endpoint gets a signed POST for each event of a run that its `events` and `workflowIds` let through. The secret is shown here and by rotate-secret only: keep it to verify signatures. The address has to be https and public, else BAD_REQUEST. A delivery that fails is tried eight times in all; ten failures in a row disable the endpoint.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.created` in the audit log.
     */
    create: createWebhookEndpoint,
    /**
     * Get a webhook endpoint.
     *
     * The answer has everything but the secret. `consecutiveFailures` says how near it is to being disabled.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getWebhookEndpoint,
    /**
     * Change a webhook endpoint.
     *
     * Fields that are left out stay. `status: disabled` stops deliveries, and `status: active` begins them again. An endpoint that was disabled because its receiver failed gets what was held for it meanwhile.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.updated` in the audit log.
     */
    update: updateWebhookEndpoint,
    /**
     * Delete a webhook endpoint.
     *
     * The endpoint and its deliveries are gone, those that were still pending included. A delivery that is on its way at that moment may still arrive.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.deleted` in the audit log.
     */
    delete: deleteWebhookEndpoint,
    /**
     * Replace the secret of a webhook endpoint.
     *
     * The new secret is shown here only. For the overlap, 24 hours unless said otherwise, deliveries have a signature of each secret, so that a receiver can change over. `overlapSeconds: 0` ends the old secret at once.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.secret_rotated` in the audit log.
     */
    rotateSecret: rotateWebhookSecret,
    /**
     * Send a test to a webhook endpoint.
     *
     * The example of an event type is sent now, whatever the endpoint's status, and the answer says what came back. It is 200 also when the receiver refused or could not be reached: see `success`, `statusCode` and `error`. The test stands among the deliveries, and is not repeated. 24 tests of a company may be under way, else RATE_LIMITED with `details.limit` `tests`.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.tested` in the audit log.
     */
    test: testWebhookEndpoint,
    /**
     * Queue failed deliveries again.
     *
     * Up to 10,000 failed deliveries since a time are queued, the newest first; `hasMore` says whether to call again. Deliveries that succeeded or are pending are not touched.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.recovered` in the audit log.
     */
    recover: recoverWebhookEndpoint,
    /**
     * List the deliveries of a webhook endpoint.
     *
     * The newest delivery comes first, without request and attempts. With a filter a page may be short although there are more; `meta.hasMore` counts.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    listDeliveries: listWebhookDeliveries,
    /**
     * Get a delivery.
     *
     * The answer has the request as it was sent, without signatures and secrets, and each attempt with what came back. Of a receiver's answer the first 4 KiB are kept.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    getDelivery: getWebhookDelivery,
    /**
     * Queue a delivery again.
     *
     * The delivery is due at once, whatever has become of it; the receiver tells a repeat by the same event id. Tests are not repeated: INVALID_STATE.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_delivery.retried` in the audit log.
     */
    retryDelivery: retryWebhookDelivery,
    /**
     * List the types of events.
     *
     * These are the events that webhook endpoints can get, each with the JSON Schema and an example of its body. The list is the same for all companies.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    listEventTypes: listWebhookEventTypes,
  },
  webhookEvents: {
    /**
     * List inbound events.
     *
     * Everything that came in for the company by a webhook is here, the newest first, whether it started runs or not. `status=ignored` lists those that no workflow waited for.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    list: listWebhookEvents,
    /**
     * Get an inbound event.
     *
     * The answer has the payload as it came, and the runs that it started.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    get: getWebhookEvent,
    /**
     * Replay an inbound event.
     *
     * A new event is made of the old one, for the workflows that match now. It starts runs even where the old one did, and names it in `replayedFrom`. The answer comes before the runs are started; read the new event to see them.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `webhook_event.replayed` in the audit log.
     */
    replay: replayWebhookEvent,
  },
  apiKeys: {
    /**
     * List API keys.
     *
     * The newest key comes first; keys that have expired are in the list, revoked ones are not. The keys themselves are not known here any more: `keyPrefix` is what is left. `createdBy` finds those that a person or a key made, directly or through other keys.
     *
     * Needs the scope `api_keys:read`. Counts as a read request.
     */
    list: listApiKeys,
    /**
     * Create an API key.
     *
     * The key is shown in this answer only; a hash of it is stored. It may have scopes that its maker has, and no others: else FORBIDDEN. With `expiresAt` it is refused from then on. Each request makes a key; a company has at most 1,000, and one more is BAD_REQUEST.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.created` in the audit log.
     */
    create: createApiKey,
    /**
     * Revoke the API keys of a person or a key.
     *
     * All keys are revoked that the person or key in `createdBy` made, directly or through other keys. `revoked` says how many; none is fine too.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.revoked` in the audit log.
     */
    revokeAll: revokeApiKeys,
    /**
     * Revoke an API key.
     *
     * The key is refused at once here, and everywhere within seconds. There is no way back.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.revoked` in the audit log.
     */
    revoke: revokeApiKey,
  },
  sessions: {
    /**
     * Show who is signed in.
     *
     * The answer has the person, the company that the session is for, the role in it, and all companies of the person. Companies with `invited` are yet to be joined, by PUT.
     *
     * For people who are signed in; an API key gets 403. Counts as a read request.
     */
    get: getSession,
    /**
     * Sign in.
     *
     * The answer sets the cookie `wfs_session`, which is HttpOnly and SameSite=Lax. Unknown person, wrong password and wrong company are the same UNAUTHORIZED. Too many tries are refused with RATE_LIMITED, of an address, a network or an account. Pages of other sites are refused with FORBIDDEN. A session ends after 12 hours without use, and after seven days in any case.
     *
     * Needs no credential. Leaves `session.created` or `session.refused` in the audit log.
     */
    create: createSession,
    /**
     * Change over to another company.
     *
     * The answer sets a new cookie, and the old one is refused from then on. Role and scopes are those of the other company. An invitation is accepted with the password that the company gave. A company that the person is no member of is NOT_FOUND.
     *
     * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `session.ended` or `session.created` or `member.joined` in the audit log.
     */
    changeCompany: changeCompany,
    /**
     * Sign out.
     *
     * The session ends at once, and the cookie is taken back. Other sessions of the person go on.
     *
     * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `session.ended` in the audit log.
     */
    delete: deleteSession,
    /**
     * Change the own password.
     *
     * The current password has to be right; it is guessed at ten times a minute at most. All other sessions of the person end, this one goes on. API keys stay as they are.
     *
     * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `password.changed` in the audit log.
     */
    changePassword: changePassword,
  },
  members: {
    /**
     * List the people of the company.
     *
     * The newest member comes first, each with the role in this company. A person may be in other companies, which are not told.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listMembers,
    /**
     * Add a person to the company.
     *
     * A new person gets an account with the password that is given here. Whoever has an account already is invited, and accepts with that password; the answer is the same. Only a signed-in owner may make an owner, else FORBIDDEN. A company that is full is refused with BAD_REQUEST, a member already with CONFLICT.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.added` in the audit log.
     */
    add: addMember,
    /**
     * Give a member another role.
     *
     * The new role counts within seconds, also for sessions that are open. Only a signed-in owner may make an owner or change one, else FORBIDDEN. The last owner stays one: CONFLICT.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.role_changed` in the audit log.
     */
    changeRole: changeRole,
    /**
     * Remove a person from the company.
     *
     * The person's sessions in the company end; the account stays for other companies. API keys that the person made stay, unless `revokeKeys` is true. The last owner cannot be removed: CONFLICT.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.removed` or `api_key.revoked` in the audit log.
     */
    remove: removeMember,
  },
  auditLog: {
    /**
     * List who changed what.
     *
     * The newest change comes first, with who made it, from where, and what changed. The entries cannot be changed or removed through the API. They are written in the background, so that one may show up a moment after its change.
     *
     * Needs the scope `audit:read`. Counts as a read request.
     */
    list: listAuditLogs,
  },
  dashboards: {
    /**
     * List dashboards.
     *
     * The newest dashboard comes first, of all people of the company, without widgets. Who owns it may change it; everybody with the scope may read it.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listDashboards,
    /**
     * Create a dashboard.
     *
     * The dashboard is empty and belongs to the person who is signed in. Only that person may change it.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.created` in the audit log.
     */
    create: createDashboard,
    /**
     * Get a dashboard.
     *
     * The answer has its widgets and where they lie on a grid of 12 columns. What a widget shows is read apart, by its `data`.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getDashboard,
    /**
     * Change a dashboard.
     *
     * Name and description change where they are given; null clears the description. Only the owner may: for others it is NOT_FOUND.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.updated` in the audit log.
     */
    update: updateDashboard,
    /**
     * Delete a dashboard.
     *
     * The dashboard and its widgets are gone; the tables and runs that they showed are not touched. Only the owner may: for others it is NOT_FOUND.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.deleted` in the audit log.
     */
    delete: deleteDashboard,
    /**
     * Add a widget to a dashboard.
     *
     * The widget is put where there is room for it; a place is not asked for. A dashboard has at most 40 widgets. Only the owner may add one: for others it is NOT_FOUND.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_added` in the audit log.
     */
    createWidget: createWidget,
    /**
     * Change or move a widget.
     *
     * What is not given stays, members of the config too. A move needs all of x, y, w and h; other widgets make room, and `layout` says where all of them lie then.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_updated` in the audit log.
     */
    updateWidget: updateWidget,
    /**
     * Remove a widget.
     *
     * The gap that the widget leaves closes, and `layout` says where the others lie then. Only the owner may: for others it is NOT_FOUND.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_removed` in the audit log.
     */
    deleteWidget: deleteWidget,
    /**
     * Save the layout of a dashboard.
     *
     * All widgets get their places at once, or none does; gaps close and overlaps are resolved, so take the places of the answer. A layout that leaves out widgets is refused with CONFLICT and their ids in `details`: load the dashboard again. A widget of another dashboard, a repeated id or a place off the grid is BAD_REQUEST. Nothing but places changes.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.layout_updated` in the audit log.
     */
    saveLayout: saveLayout,
    /**
     * Read what a widget shows.
     *
     * What the answer has depends on the widget's config: figures of runs, or rows or figures of a table. A widget without a source, or whose column is gone, is BAD_REQUEST; one whose table is gone is NOT_FOUND.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    getWidgetData: getWidgetData,
  },
  tables: {
    /**
     * List tables.
     *
     * All tables of the company, the newest first, without rows. There are no pages.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listTables,
    /**
     * Create a table.
     *
     * The table has no rows; its columns say how rows are shown, filtered and sorted. A column without an id gets one, which rows, filters and sorting use. Columns are advice: rows keep every key that is written. Each request makes a table, also of the same name. A company has at most 1,000 tables; one more is BAD_REQUEST.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.created` in the audit log.
     */
    create: createTable,
    /**
     * Create a table with rows.
     *
     * The table and all rows are made, or nothing is: a row that cannot be taken is BAD_REQUEST with its path. The body is JSON, or with `format=csv` a CSV file whose types are guessed unless `columns` says them. More rows than `maxRows` are BAD_REQUEST; the body may have 64 MiB. It counts as one write request. A company has at most 1,000 tables; one more is BAD_REQUEST.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.created` in the audit log.
     */
    import: importTable,
    /**
     * Get a table.
     *
     * The answer has the columns and how many rows there are. Rows are read by POST /tables/{id}/rows/query.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getTable,
    /**
     * Change a table.
     *
     * Fields that are left out stay; `columns`, `schema` and `metadata` are replaced as wholes. Rows stay as they are, also data of columns that are gone. What all tables of a company say about themselves may have 16 MiB: else BAD_REQUEST. Fewer `maxRows` than there are rows only keeps more from being added.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.updated` in the audit log.
     */
    update: updateTable,
    /**
     * Delete a table.
     *
     * The table is gone with all of its rows, and there is no way back. Steps and widgets that name it fail from then on.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.deleted` in the audit log.
     */
    delete: deleteTable,
    /**
     * List the folders of tables.
     *
     * The folders stand in the order of their names, each with the ids of its tables. There are no pages.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    listFolders: listFolders,
    /**
     * Create a folder of tables.
     *
     * Folders are one level deep; they cannot be renamed or deleted. A name that the company has already, in the same case, is CONFLICT. Their number has no limit; all together may have 16 MiB, each with its name and 100 bytes: else BAD_REQUEST.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table_folder.created` in the audit log.
     */
    createFolder: createFolder,
    /**
     * Move a table into a folder.
     *
     * A table lies in one folder, or with `folderId: null` in the root. A table or folder that is not the company's is NOT_FOUND. Moving it where it lies already is fine.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.moved` in the audit log.
     */
    move: moveTable,
  },
  rows: {
    /**
     * Find rows.
     *
     * A page has the rows that match the filter, in the order of a column or else in the table's own. Clauses of several columns have to match all; a clause has a condition, a list of values, or both. An unknown column or an operator that its type does not have is BAD_REQUEST, with every place in `details`. `meta.total` counts all rows that match; an offset beyond it answers no rows. The body may have 512 KiB.
     *
     * Needs the scope `workflows:read`. Counts as a write request.
     */
    query: queryRows,
    /**
     * List rows.
     *
     * This is the older form of POST /tables/{id}/rows/query, with the filter in the address. A clause of the filter may also be a plain text, number or boolean that the value has to contain. Long filters belong into the other form.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listRows,
    /**
     * Add a row.
     *
     * The row stands at the end of the table; keys that no column declares are kept. A table that is full is BAD_REQUEST: `Table has reached its maximum row limit of N`. Where the table has `rowEvents`, workflows that wait for its rows are started. Each request adds a row.
     *
     * Needs the scope `workflows:write`. Counts as a write request.
     */
    insert: insertRow,
    /**
     * Change many rows at once.
     *
     * Rows are inserted, updated and deleted in this order, and all of it happens or nothing does. A batch has 1 to 1,000 changes, and names each row once. A row that is not there is NOT_FOUND, with the ids in `details.rowIds`. It counts as one write request.
     *
     * Needs the scope `workflows:write`. Counts as a write request.
     */
    batch: batchRows,
    /**
     * Export the rows of a table.
     *
     * All rows come as a file, in the table's order, while they are read. CSV has a line of the columns' names; JSON Lines has an object with id and data for each row. A connection that breaks off means that the file is not whole.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    export: exportRows,
    /**
     * Get a row.
     *
     * The data is as it was written, keys that no column declares included. A row of another table is NOT_FOUND.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getRow,
    /**
     * Change a row.
     *
     * All of the data is replaced; with `merge=true` only the members that are given, each as a whole. The row keeps its place. Where the table has `rowEvents`, workflows that wait for its rows are started.
     *
     * Needs the scope `workflows:write`. Counts as a write request.
     */
    update: updateRow,
    /**
     * Delete a row.
     *
     * The row is gone, and `rowCount` is one less. A second time it is NOT_FOUND.
     *
     * Needs the scope `workflows:write`. Counts as a write request.
     */
    delete: deleteRow,
    /**
     * Count the values of a column.
     *
     * The answer has the different values of the rows that match the filter, and how many rows have each. What the filter says of the column itself does not count, as in a menu that offers its values. Missing keys, null and empty texts are one value, null. `truncated` says that there are more: search more narrowly.
     *
     * Needs the scope `workflows:read`. Counts as a write request.
     */
    queryValues: queryValues,
    /**
     * List the values of a column.
     *
     * This is the older form of POST /tables/{id}/columns/{columnId}/values/query, with all of it in the address. Every filtered column has to be one that the table declares.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    listValues: listValues,
    /**
     * Compute figures of rows.
     *
     * Count, sum, mean, least and greatest are computed without reading rows, for all that match or for each value of a column. Values that do not fit the column count in nothing but `count`. More than 10,000 groups are BAD_REQUEST: filter the rows.
     *
     * Needs the scope `workflows:read`. Counts as a write request.
     */
    aggregate: aggregateRows,
  },
};
