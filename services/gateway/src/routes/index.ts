import type { Route } from "../route.ts";
import { decideApproval } from "./approvals/decide-approval.ts";
import { listApprovals } from "./approvals/list-approvals.ts";
import { listRunApprovals } from "./approvals/list-run-approvals.ts";
import { bulkRuns } from "./runs/bulk-runs.ts";
import { cancelRun } from "./runs/cancel-run.ts";
import { getRunLogs } from "./runs/get-run-logs.ts";
import { getRun } from "./runs/get-run.ts";
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
import { activateWorkflow } from "./workflows/activate-workflow.ts";
import { createWorkflow } from "./workflows/create-workflow.ts";
import { deleteWorkflow } from "./workflows/delete-workflow.ts";
import { getWorkflow } from "./workflows/get-workflow.ts";
import { listWorkflowRuns } from "./workflows/list-workflow-runs.ts";
import { listWorkflows } from "./workflows/list-workflows.ts";
import { pauseWorkflow } from "./workflows/pause-workflow.ts";
import { planWorkflow } from "./workflows/plan-workflow.ts";
import { runWorkflow } from "./workflows/run-workflow.ts";
import { updateWorkflow } from "./workflows/update-workflow.ts";

/** Every route of the API, below its base. Routing and all that is generated comes from this table. */
export const ROUTES: readonly Route[] = [
  listWorkflows,
  createWorkflow,
  getWorkflow,
  updateWorkflow,
  deleteWorkflow,
  activateWorkflow,
  pauseWorkflow,
  planWorkflow,
  runWorkflow,
  listWorkflowRuns,
  getSchedule,
  updateSchedule,
  triggerSchedule,
  listRuns,
  getRun,
  getRunLogs,
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
];

export type { Bucket, Method, Route } from "../route.ts";
export type { Scope } from "../auth/scopes.ts";
