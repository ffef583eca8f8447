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
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listBlocks,
    /**
     * Get a block of the catalog.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getBlock,
  },
  workflows: {
    /**
     * List workflows, newest first; archived ones only when asked for.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listWorkflows,
    /**
     * Create a workflow.
     *
     * Everything is checked before it is stored: what is wrong with the definition is told with VALIDATION_ERROR, one entry of details for each problem. Description and definition may have 1 MiB together.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.created` in the audit log.
     */
    create: createWorkflow,
    /**
     * Get a workflow.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getWorkflow,
    /**
     * Replace the given fields of a workflow; an active one gets a new version. With If-Match only while the workflow has that ETag.
     *
     * Fields that are left out stay as they are. Of an active workflow the whole result has to be valid, and the version before goes into its history; others are changed in place, and the version stays. Description and definition may have 1 MiB together.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.updated` in the audit log.
     */
    update: updateWorkflow,
    /**
     * Archive a workflow. With If-Match only while the workflow has that ETag.
     *
     * The workflow is kept: its id still reads it, with status archived, and lists show it when asked for. Its schedule and its secrets are deleted; its runs stay. Archiving it again is fine.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.archived` in the audit log.
     */
    delete: deleteWorkflow,
    /**
     * Make a draft or paused workflow active.
     *
     * The definition has to be complete and valid. Allowed from draft and paused: else BAD_REQUEST with details {currentStatus, targetStatus, allowedTransitions}.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.activated` in the audit log.
     */
    activate: activateWorkflow,
    /**
     * Pause an active workflow.
     *
     * Allowed from active only: else BAD_REQUEST with details {currentStatus, targetStatus, allowedTransitions}. Runs that have begun go on.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.paused` in the audit log.
     */
    pause: pauseWorkflow,
    /**
     * Tell what a run of a workflow would do, without doing it.
     *
     * Needs the scope `workflows:read`. Counts as a write request.
     */
    plan: planWorkflow,
    /**
     * Save the visual editor's state, with steps and trigger where they are given; an active workflow then gets a new version.
     *
     * With steps, the save is refused with CONFLICT when status, version or steps changed while it was under way: reload, reconcile and save again. What an active workflow gets has to be complete and valid.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.canvas_saved` in the audit log.
     */
    saveCanvas: saveCanvas,
    /**
     * Copy a workflow, whatever its status; secrets are not copied.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.cloned` in the audit log.
     */
    clone: cloneWorkflow,
    /**
     * Get a workflow as a document that POST /workflows/import takes, anywhere.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    export: exportWorkflow,
    /**
     * Create a workflow from an exported one.
     *
     * Takes what GET /workflows/{id}/export gives, of this or another installation. The definition is checked as that of a new workflow.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.imported` in the audit log.
     */
    import: importWorkflow,
    /**
     * List the runs of a workflow, newest first.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    listRuns: listWorkflowRuns,
  },
  versions: {
    /**
     * List the versions of a workflow, newest first, the current one included.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listVersions,
    /**
     * Get a version of a workflow.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getVersion,
    /**
     * Compare two versions of a workflow.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    compare: compareVersions,
    /**
     * Make a new version with the content of an older one; the status stays.
     *
     * The version of an active workflow has to be valid still. Without a summary the record says to which version it went back.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `workflow.rolled_back` in the audit log.
     */
    rollback: rollbackWorkflow,
  },
  schedules: {
    /**
     * Get a workflow's schedule.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getSchedule,
    /**
     * Change when a workflow's schedule fires, or whether it does.
     *
     * cron takes the place of an interval and the other way round; what is left out stays. The workflow's definition is not touched, and its next activation with another trigger replaces the schedule.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `schedule.updated` in the audit log.
     */
    update: updateSchedule,
    /**
     * Start a run now, as the workflow's schedule would.
     *
     * Whether the schedule is enabled does not matter, but its workflow has to be active. The run counts as one of the schedule.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request.
     */
    trigger: triggerSchedule,
  },
  runs: {
    /**
     * List runs, newest first.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    list: listRuns,
    /**
     * Get a run.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    get: getRun,
    /**
     * Get what the steps of a run did, in execution order.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    getLogs: getRunLogs,
    /**
     * List what the steps of a run did, in execution order.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    listSteps: listRunSteps,
    /**
     * Get what one step of a run did, with its whole input and output.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    getStep: getRunStep,
    /**
     * Cancel a run that has not ended.
     *
     * Allowed until the run has ended; runs of other workflows that it waits for end with it.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.cancelled` in the audit log.
     */
    cancel: cancelRun,
    /**
     * Start a run that goes on where a failed or timed-out one failed.
     *
     * The new run has the input and the version of the original, takes over what came before the first failed step, and begins there. Allowed for runs that are failed or timeout.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.retried` in the audit log.
     */
    retry: retryRun,
    /**
     * Start a run that repeats an ended one from a step on.
     *
     * The new run has the version of the original and takes over the outputs of the steps before. Allowed for runs that are completed, failed or timeout.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.restarted` in the audit log.
     */
    restart: restartRun,
    /**
     * Cancel or retry many runs, each on its own.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `run.cancelled` or `run.retried` in the audit log.
     */
    bulk: bulkRuns,
  },
  approvals: {
    /**
     * List the approvals of a run in the order in which they were asked for.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    listOfRun: listRunApprovals,
    /**
     * Approve or reject what a run waits for.
     *
     * Where the step names approvers, only they may decide; others get FORBIDDEN. An approval is decided once.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `approval.decided` in the audit log.
     */
    decide: decideApproval,
    /**
     * List the company's approvals, newest first.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    list: listApprovals,
  },
  secrets: {
    /**
     * List a workflow's secrets, without their values.
     *
     * Needs the scope `secrets:read`. Counts as a read request.
     */
    list: listSecrets,
    /**
     * Store a secret for a workflow.
     *
     * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.created` in the audit log.
     */
    create: createSecret,
    /**
     * Give a secret another value.
     *
     * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.replaced` in the audit log.
     */
    replace: replaceSecret,
    /**
     * Delete a secret; later runs that name it fail.
     *
     * Needs the scope `secrets:write`. Counts as a write request. Leaves `secret.deleted` in the audit log.
     */
    delete: deleteSecret,
  },
  connections: {
    /**
     * Begin to connect an account at a provider.
     *
     * A connection of the provider that is in error, expired or disconnected is authorized again; without one a pending one is made. Other parameters of the query are fields that the provider's addresses need, such as `accountId` of netsuite.
     *
     * Needs the scope `connections:write`. Counts as a read request. Leaves `connection.created` in the audit log.
     */
    getAuthUrl: getAuthUrl,
    /**
     * List connections, newest first; abandoned ones only when asked for.
     *
     * Needs the scope `connections:read`. Counts as a read request.
     */
    list: listConnections,
    /**
     * Begin to connect an account by OAuth or at a bank, or connect an own application.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.created` in the audit log.
     */
    create: createConnection,
    /**
     * Connect an account with API keys, or replace those of a connection.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.created` or `connection.credentials_replaced` in the audit log.
     */
    connectApiKey: connectApiKey,
    /**
     * Get a connection with its metadata, without credentials.
     *
     * Needs the scope `connections:read`. Counts as a read request.
     */
    get: getConnection,
    /**
     * End a connection and take the access back; steps that use it fail.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.deleted` in the audit log.
     */
    delete: deleteConnection,
    /**
     * Renew the credentials; when that fails the status is error.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.refreshed` in the audit log.
     */
    refresh: refreshConnection,
    /**
     * Ask the provider whether the credentials are good.
     *
     * Needs the scope `connections:write`. Counts as a write request. Leaves `connection.verified` in the audit log.
     */
    verify: verifyConnection,
    /**
     * Get the accounts at a bank; lastErrorCode says when it wants a new sign-in.
     *
     * Needs the scope `connections:read`. Counts as a read request.
     */
    listBankAccounts: listBankAccounts,
  },
  agents: {
    /**
     * List agents, newest first and core agents last; deprecated ones only when asked for.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listAgents,
    /**
     * Create an agent.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.created` in the audit log.
     */
    create: createAgent,
    /**
     * Get an agent, a core agent or a deprecated one as well.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getAgent,
    /**
     * Replace the given fields of an agent of the company; each time it gets a new version.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.updated` in the audit log.
     */
    update: updateAgent,
    /**
     * Deprecate an agent of the company for good; steps that name it fail.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `agent.deleted` in the audit log.
     */
    delete: deleteAgent,
    /**
     * Ask an agent of the company without recording it; the tokens count.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request.
     */
    test: testAgent,
    /**
     * Ask an agent and record it; a client that goes away cancels it.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request.
     */
    execute: executeAgent,
    /**
     * List what an agent was asked, newest first, without input and output.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    listExecutions: listAgentExecutions,
    /**
     * Get one execution of an agent whole.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    getExecution: getAgentExecution,
    /**
     * Ask an agent for up to 50 cases and compare the answers with what is expected.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request.
     */
    evaluate: evaluateAgent,
  },
  webhookEndpoints: {
    /**
     * List webhook endpoints, newest first.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listWebhookEndpoints,
    /**
     * Create a webhook endpoint; only this answer and that of rotate-secret show a secret.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.created` in the audit log.
     */
    create: createWebhookEndpoint,
    /**
     * Get a webhook endpoint.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getWebhookEndpoint,
    /**
     * Replace the given fields of a webhook endpoint; active again, it gets what was held.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.updated` in the audit log.
     */
    update: updateWebhookEndpoint,
    /**
     * Delete a webhook endpoint with its deliveries.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.deleted` in the audit log.
     */
    delete: deleteWebhookEndpoint,
    /**
     * Give a webhook endpoint a new secret; the one before signs too for the overlap.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.secret_rotated` in the audit log.
     */
    rotateSecret: rotateWebhookSecret,
    /**
     * Send the example of an event type now and say what came back, whatever the endpoint's status.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.tested` in the audit log.
     */
    test: testWebhookEndpoint,
    /**
     * Queue the failed deliveries of a webhook endpoint again, up to 10,000 a call, newest first.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_endpoint.recovered` in the audit log.
     */
    recover: recoverWebhookEndpoint,
    /**
     * List deliveries of a webhook endpoint, newest first; with a filter pages may be short.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    listDeliveries: listWebhookDeliveries,
    /**
     * Get a delivery with its request and its attempts.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    getDelivery: getWebhookDelivery,
    /**
     * Queue a delivery again, due at once, whatever has become of it.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `webhook_delivery.retried` in the audit log.
     */
    retryDelivery: retryWebhookDelivery,
    /**
     * List the types of events that webhook endpoints can get.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    listEventTypes: listWebhookEventTypes,
  },
  webhookEvents: {
    /**
     * List the inbound events that were kept, newest first.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    list: listWebhookEvents,
    /**
     * Get an inbound event with its payload.
     *
     * Needs the scope `runs:read`. Counts as a read request.
     */
    get: getWebhookEvent,
    /**
     * Take an inbound event in once more, for the workflows that match now.
     *
     * Needs the scope `workflows:execute`. Counts as an execute request. Leaves `webhook_event.replayed` in the audit log.
     */
    replay: replayWebhookEvent,
  },
  apiKeys: {
    /**
     * List the API keys that were not revoked, newest first.
     *
     * Needs the scope `api_keys:read`. Counts as a read request.
     */
    list: listApiKeys,
    /**
     * Make an API key with scopes that the caller has.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.created` in the audit log.
     */
    create: createApiKey,
    /**
     * Revoke all API keys that a person, or a key, has made, directly or through other keys.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.revoked` in the audit log.
     */
    revokeAll: revokeApiKeys,
    /**
     * Revoke an API key: it is refused everywhere within seconds.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `api_key.revoked` in the audit log.
     */
    revoke: revokeApiKey,
  },
  sessions: {
    /**
     * Show who is signed in, and the companies of that person.
     *
     * For people who are signed in; an API key gets 403. Counts as a read request.
     */
    get: getSession,
    /**
     * Sign in; the answer sets the session's cookie.
     *
     * The cookie `wfs_session` is HttpOnly and SameSite=Lax. Too many tries are refused with RATE_LIMITED. Pages of other sites are refused with FORBIDDEN.
     *
     * Needs no credential. Leaves `session.created` or `session.refused` in the audit log.
     */
    create: createSession,
    /**
     * Change over to another company of one's own; the answer sets a new cookie.
     *
     * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `session.ended` or `session.created` or `member.joined` in the audit log.
     */
    changeCompany: changeCompany,
    /**
     * Sign out.
     *
     * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `session.ended` in the audit log.
     */
    delete: deleteSession,
    /**
     * Change one's password; all other sessions end.
     *
     * For people who are signed in; an API key gets 403. Counts as a write request. Leaves `password.changed` in the audit log.
     */
    changePassword: changePassword,
  },
  members: {
    /**
     * List the people of the company, newest first.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listMembers,
    /**
     * Add a person to the company.
     *
     * Whoever has an account already is invited, and accepts with the password given here; the answer is the same. A company that is full is refused with BAD_REQUEST.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.added` in the audit log.
     */
    add: addMember,
    /**
     * Give a member another role.
     *
     * Only a signed-in owner may make an owner or change one. The last owner stays one: CONFLICT.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.role_changed` in the audit log.
     */
    changeRole: changeRole,
    /**
     * Remove a person from the company; the person's sessions in it end.
     *
     * Needs the scope `api_keys:write`. Counts as a write request. Leaves `member.removed` or `api_key.revoked` in the audit log.
     */
    remove: removeMember,
  },
  auditLog: {
    /**
     * List who changed what, newest first.
     *
     * Needs the scope `audit:read`. Counts as a read request.
     */
    list: listAuditLogs,
  },
  dashboards: {
    /**
     * List the company's dashboards without their widgets, newest first.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listDashboards,
    /**
     * Create a dashboard without widgets, owned by the signed-in person.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.created` in the audit log.
     */
    create: createDashboard,
    /**
     * Read a dashboard with its widgets and where they lie.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getDashboard,
    /**
     * Change a dashboard's name or description.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.updated` in the audit log.
     */
    update: updateDashboard,
    /**
     * Delete a dashboard and its widgets.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.deleted` in the audit log.
     */
    delete: deleteDashboard,
    /**
     * Add a widget where there is room for it.
     *
     * A dashboard has at most 40 widgets. Only its owner may change it.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_added` in the audit log.
     */
    createWidget: createWidget,
    /**
     * Change a widget or move it; what is not given stays, members of its config too.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_updated` in the audit log.
     */
    updateWidget: updateWidget,
    /**
     * Remove a widget; the gap that it leaves closes.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.widget_removed` in the audit log.
     */
    deleteWidget: deleteWidget,
    /**
     * Save where all widgets of a dashboard lie, or none.
     *
     * A layout that leaves out widgets is refused with CONFLICT and their ids in details: load the dashboard again. Only the owner may change it.
     *
     * For people who are signed in whose role has the scope `workflows:write`; an API key gets 403. Counts as a write request. Leaves `dashboard.layout_updated` in the audit log.
     */
    saveLayout: saveLayout,
    /**
     * Read what a widget shows.
     *
     * What there is goes by the widget's config. One without a source, or whose column is gone, is refused with BAD_REQUEST; one whose table is gone with NOT_FOUND.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    getWidgetData: getWidgetData,
  },
  tables: {
    /**
     * List all tables, newest first.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listTables,
    /**
     * Create a table without rows.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.created` in the audit log.
     */
    create: createTable,
    /**
     * Create a table with rows from JSON or from a CSV file, all or nothing.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.created` in the audit log.
     */
    import: importTable,
    /**
     * Read a table, without its rows.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getTable,
    /**
     * Replace the given fields of a table; its rows stay as they are.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.updated` in the audit log.
     */
    update: updateTable,
    /**
     * Delete a table and its rows.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.deleted` in the audit log.
     */
    delete: deleteTable,
    /**
     * List all folders of tables in the order of their names.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    listFolders: listFolders,
    /**
     * Create a folder of tables.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table_folder.created` in the audit log.
     */
    createFolder: createFolder,
    /**
     * Put a table into a folder, or back to the root.
     *
     * Needs the scope `workflows:write`. Counts as a write request. Leaves `table.moved` in the audit log.
     */
    move: moveTable,
  },
  rows: {
    /**
     * Read a page of the rows that match a filter, in the order of a column.
     *
     * Needs the scope `workflows:read`. Counts as a write request.
     */
    query: queryRows,
    /**
     * Read a page of rows: the older form of the query, with all of it in the address.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    list: listRows,
    /**
     * Add a row at the end of a table; keys that no column declares are kept.
     *
     * Needs the scope `workflows:write`. Counts as a write request.
     */
    insert: insertRow,
    /**
     * Insert, update and delete rows in this order, all or nothing.
     *
     * Needs the scope `workflows:write`. Counts as a write request.
     */
    batch: batchRows,
    /**
     * Save all rows of a table as a CSV or JSON Lines file.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    export: exportRows,
    /**
     * Read a row.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    get: getRow,
    /**
     * Replace the data of a row; with merge=true, only the members that are given.
     *
     * Needs the scope `workflows:write`. Counts as a write request.
     */
    update: updateRow,
    /**
     * Delete a row.
     *
     * Needs the scope `workflows:write`. Counts as a write request.
     */
    delete: deleteRow,
    /**
     * Count the different values that a column has in the rows that match a filter.
     *
     * Needs the scope `workflows:read`. Counts as a write request.
     */
    queryValues: queryValues,
    /**
     * Count the different values of a column: the older form, with all of it in the address.
     *
     * Needs the scope `workflows:read`. Counts as a read request.
     */
    listValues: listValues,
    /**
     * Compute figures of the rows that match a filter, for all of them or by the values of a column.
     *
     * Needs the scope `workflows:read`. Counts as a write request.
     */
    aggregate: aggregateRows,
  },
};
