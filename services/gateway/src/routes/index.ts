import type { Route } from "../route-table-entry.ts";
import { createAgent } from "./agents/create-agent.ts";
import { deleteAgent } from "./agents/delete-agent.ts";
import { executeAgent } from "./agents/execute-agent.ts";
import { getAgentExecution } from "./agents/get-agent-execution.ts";
import { evaluateAgent } from "./agents/evaluate-agent.ts";
import { getAgent } from "./agents/get-agent.ts";
import { listAgentExecutions } from "./agents/list-agent-executions.ts";
import { listAgents } from "./agents/list-agents.ts";
import { testAgent } from "./agents/test-agent.ts";
import { updateAgent } from "./agents/update-agent.ts";
import { createApiKey } from "./api-keys/create-api-key.ts";
import { listApiKeys } from "./api-keys/list-api-keys.ts";
import { revokeApiKey } from "./api-keys/revoke-api-key.ts";
import { revokeApiKeys } from "./api-keys/revoke-api-keys.ts";
import { decideApproval } from "./approvals/decide-approval.ts";
import { listApprovals } from "./approvals/list-approvals.ts";
import { listRunApprovals } from "./approvals/list-run-approvals.ts";
import { listAuditLogs } from "./audit/list-audit-logs.ts";
import { getBlock } from "./blocks/get-block.ts";
import { listBlocks } from "./blocks/list-blocks.ts";
import { saveCanvas } from "./canvas/save-canvas.ts";
import { authorizationCallback } from "./connections/authorization-callback.ts";
import { getAuthUrl } from "./connections/get-auth-url.ts";
import { connectApiKey } from "./connections/connect-api-key.ts";
import { createConnection } from "./connections/create-connection.ts";
import { deleteConnection } from "./connections/delete-connection.ts";
import { getConnection } from "./connections/get-connection.ts";
import { listBankAccounts } from "./connections/list-bank-accounts.ts";
import { listConnections } from "./connections/list-connections.ts";
import { refreshConnection } from "./connections/refresh-connection.ts";
import { verifyConnection } from "./connections/verify-connection.ts";
import { createDashboard } from "./dashboards/create-dashboard.ts";
import { createWidget } from "./dashboards/create-widget.ts";
import { deleteDashboard } from "./dashboards/delete-dashboard.ts";
import { deleteWidget } from "./dashboards/delete-widget.ts";
import { getDashboard } from "./dashboards/get-dashboard.ts";
import { getWidgetData } from "./dashboards/get-widget-data.ts";
import { listDashboards } from "./dashboards/list-dashboards.ts";
import { saveLayout } from "./dashboards/save-layout.ts";
import { updateDashboard } from "./dashboards/update-dashboard.ts";
import { updateWidget } from "./dashboards/update-widget.ts";
import { addMember } from "./members/add-member.ts";
import { changeRole } from "./members/change-role.ts";
import { listMembers } from "./members/list-members.ts";
import { removeMember } from "./members/remove-member.ts";
import { bulkRuns } from "./runs/bulk-runs.ts";
import { cancelRun } from "./runs/cancel-run.ts";
import { getRunLogs } from "./runs/get-run-logs.ts";
import { getRunStep } from "./runs/get-run-step.ts";
import { getRun } from "./runs/get-run.ts";
import { listRunSteps } from "./runs/list-run-steps.ts";
import { listRuns } from "./runs/list-runs.ts";
import { restartRun } from "./runs/restart-run.ts";
import { retryRun } from "./runs/retry-run.ts";
import { watchRun } from "./runs/watch-run.ts";
import { getSchedule } from "./schedules/get-schedule.ts";
import { triggerSchedule } from "./schedules/trigger-schedule.ts";
import { updateSchedule } from "./schedules/update-schedule.ts";
import { createSecret } from "./secrets/create-secret.ts";
import { deleteSecret } from "./secrets/delete-secret.ts";
import { listSecrets } from "./secrets/list-secrets.ts";
import { replaceSecret } from "./secrets/replace-secret.ts";
import { changeCompany } from "./session/change-company.ts";
import { changePassword } from "./session/change-password.ts";
import { createSession } from "./session/create-session.ts";
import { deleteSession } from "./session/delete-session.ts";
import { getSession } from "./session/get-session.ts";
import { createFolder } from "./table-folders/create-folder.ts";
import { listFolders } from "./table-folders/list-folders.ts";
import { moveTable } from "./table-folders/move-table.ts";
import { aggregateRows } from "./tables/aggregate-rows.ts";
import { batchRows } from "./tables/batch-rows.ts";
import { createTable } from "./tables/create-table.ts";
import { deleteRow } from "./tables/delete-row.ts";
import { deleteTable } from "./tables/delete-table.ts";
import { exportRows } from "./tables/export-rows.ts";
import { getRow } from "./tables/get-row.ts";
import { getTable } from "./tables/get-table.ts";
import { importTable } from "./tables/import-table.ts";
import { insertRow } from "./tables/insert-row.ts";
import { listRows } from "./tables/list-rows.ts";
import { listTables } from "./tables/list-tables.ts";
import { listValues } from "./tables/list-values.ts";
import { queryRows } from "./tables/query-rows.ts";
import { queryValues } from "./tables/query-values.ts";
import { updateRow } from "./tables/update-row.ts";
import { updateTable } from "./tables/update-table.ts";
import { compareVersions } from "./versions/compare-versions.ts";
import { getVersion } from "./versions/get-version.ts";
import { listVersions } from "./versions/list-versions.ts";
import { rollbackWorkflow } from "./versions/rollback-workflow.ts";
import { createWebhookEndpoint } from "./webhook-endpoints/create-webhook-endpoint.ts";
import { deleteWebhookEndpoint } from "./webhook-endpoints/delete-webhook-endpoint.ts";
import { getWebhookDelivery } from "./webhook-endpoints/get-webhook-delivery.ts";
import { getWebhookEndpoint } from "./webhook-endpoints/get-webhook-endpoint.ts";
import { listWebhookDeliveries } from "./webhook-endpoints/list-webhook-deliveries.ts";
import { listWebhookEndpoints } from "./webhook-endpoints/list-webhook-endpoints.ts";
import { listWebhookEventTypes } from "./webhook-endpoints/list-webhook-event-types.ts";
import { recoverWebhookEndpoint } from "./webhook-endpoints/recover-webhook-endpoint.ts";
import { retryWebhookDelivery } from "./webhook-endpoints/retry-webhook-delivery.ts";
import { rotateWebhookSecret } from "./webhook-endpoints/rotate-webhook-secret.ts";
import { testWebhookEndpoint } from "./webhook-endpoints/test-webhook-endpoint.ts";
import { updateWebhookEndpoint } from "./webhook-endpoints/update-webhook-endpoint.ts";
import { getWebhookEvent } from "./webhook-events/get-webhook-event.ts";
import { listWebhookEvents } from "./webhook-events/list-webhook-events.ts";
import { replayWebhookEvent } from "./webhook-events/replay-webhook-event.ts";
import { activateWorkflow } from "./workflows/activate-workflow.ts";
import { cloneWorkflow } from "./workflows/clone-workflow.ts";
import { createWorkflow } from "./workflows/create-workflow.ts";
import { deleteWorkflow } from "./workflows/delete-workflow.ts";
import { exportWorkflow } from "./workflows/export-workflow.ts";
import { getWorkflow } from "./workflows/get-workflow.ts";
import { importWorkflow } from "./workflows/import-workflow.ts";
import { listWorkflowRuns } from "./workflows/list-workflow-runs.ts";
import { listWorkflows } from "./workflows/list-workflows.ts";
import { pauseWorkflow } from "./workflows/pause-workflow.ts";
import { planWorkflow } from "./workflows/plan-workflow.ts";
import { runWorkflow } from "./workflows/run-workflow.ts";
import { updateWorkflow } from "./workflows/update-workflow.ts";

/**
 * Every route of the API, below its base, by the name of its operation. Routing and everything
 * generated comes from this table. Generated clients name their functions after it, so a name never
 * changes.
 */
export const OPERATIONS: Readonly<Record<string, Route>> = {
  listBlocks,
  getBlock,
  listWorkflows,
  createWorkflow,
  getWorkflow,
  updateWorkflow,
  deleteWorkflow,
  activateWorkflow,
  pauseWorkflow,
  planWorkflow,
  saveCanvas,
  cloneWorkflow,
  exportWorkflow,
  importWorkflow,
  listVersions,
  getVersion,
  compareVersions,
  rollbackWorkflow,
  runWorkflow,
  listWorkflowRuns,
  getSchedule,
  updateSchedule,
  triggerSchedule,
  listRuns,
  getRun,
  getRunLogs,
  listRunSteps,
  getRunStep,
  watchRun,
  cancelRun,
  retryRun,
  restartRun,
  bulkRuns,
  listRunApprovals,
  decideApproval,
  listApprovals,
  listSecrets,
  createSecret,
  replaceSecret,
  deleteSecret,
  getAuthUrl,
  authorizationCallback,
  listConnections,
  createConnection,
  connectApiKey,
  getConnection,
  deleteConnection,
  refreshConnection,
  verifyConnection,
  listBankAccounts,
  listAgents,
  createAgent,
  getAgent,
  updateAgent,
  deleteAgent,
  testAgent,
  executeAgent,
  listAgentExecutions,
  getAgentExecution,
  evaluateAgent,
  listWebhookEndpoints,
  createWebhookEndpoint,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
  recoverWebhookEndpoint,
  listWebhookDeliveries,
  getWebhookDelivery,
  retryWebhookDelivery,
  listWebhookEventTypes,
  listWebhookEvents,
  getWebhookEvent,
  replayWebhookEvent,
  listApiKeys,
  createApiKey,
  revokeApiKey,
  revokeApiKeys,
  createSession,
  getSession,
  changeCompany,
  deleteSession,
  changePassword,
  listMembers,
  addMember,
  changeRole,
  removeMember,
  listAuditLogs,
  listDashboards,
  createDashboard,
  getDashboard,
  updateDashboard,
  deleteDashboard,
  createWidget,
  updateWidget,
  deleteWidget,
  saveLayout,
  getWidgetData,
  listTables,
  createTable,
  importTable,
  getTable,
  updateTable,
  deleteTable,
  queryRows,
  listRows,
  insertRow,
  batchRows,
  exportRows,
  getRow,
  updateRow,
  deleteRow,
  queryValues,
  listValues,
  aggregateRows,
  listFolders,
  createFolder,
  moveTable,
};

/** The routes without their names. */
export const ROUTES: readonly Route[] = Object.values(OPERATIONS);

export type { Bucket } from "../domain/bucket.ts";
export type { Method } from "../route-declaration.ts";
export type { Route } from "../route-table-entry.ts";
export type { Scope } from "../domain/scopes.ts";
