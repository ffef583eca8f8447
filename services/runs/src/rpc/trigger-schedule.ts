import { AppError } from "@workflow/errors";
import type {
  TriggerScheduleRequest,
  TriggerScheduleResponse,
} from "@workflow/proto/runs/v1/schedules";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import type { Deployment } from "../engine/deployment-cache.ts";
import { findInputViolations, inputOf, scheduledRun } from "../schedules/scheduled-run.ts";
import { findHead } from "../store/deployments.ts";
import { countRuns } from "../store/fire-schedules.ts";
import { findSchedule, lockSchedule } from "../store/schedules.ts";
import type { ScheduleRow, WorkflowOf } from "../store/schedules.ts";
import { insertRuns } from "../store/start-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import { requireWorkflow, scheduleNotFound } from "./schedule-message.ts";
import { acceptedRun } from "./start-run.ts";

/** How often the workflow may be deployed anew meanwhile before this gives up. */
const OVERTAKEN_MAX = 5;

/** Starts a run now, as the schedule would; whether it is enabled does not matter. */
export function triggerSchedule(
  context: ServiceContext,
): UnaryMethod<TriggerScheduleRequest, TriggerScheduleResponse> {
  return rpc({
    scopes: "workflows:execute",
    async handler(request, rpcContext) {
      const workflow = requireWorkflow(request.workflowId, rpcContext.identity);
      for (let attempt = 0; attempt < OVERTAKEN_MAX; attempt++) {
        const deployment = await getActiveDeployment(context, workflow);
        const run = await start(context, workflow, deployment, rpcContext);
        if (run !== null) return { run: acceptedRun({ run, deployment }) };
      }
      throw new AppError("UNAVAILABLE", "The workflow is being changed; try again.", {
        retryAfterMs: 1_000,
      });
    },
  });
}

/** What the schedule starts at present. */
async function getActiveDeployment(
  { database, deployments }: ServiceContext,
  workflow: WorkflowOf,
): Promise<Deployment> {
  const schedule = await findSchedule(database, workflow);
  if (schedule === null) throw scheduleNotFound();
  const head = await findHead(database, workflow.companyId, workflow.workflowId);
  if (head === null) throw scheduleNotFound();
  if (head.status !== "active" || head.deployment_id === null) {
    throw new AppError("WORKFLOW_NOT_ACTIVE", `The workflow is ${head.status}, not active.`, {
      details: { currentStatus: head.status },
    });
  }
  const deployment = (await deployments.getMany([head.deployment_id])).get(head.deployment_id);
  if (deployment === undefined) throw new Error("a deployment head names no deployment");
  return deployment;
}

/** Null when another deployment has come in between. */
async function start(
  { database, runtime, now }: ServiceContext,
  workflow: WorkflowOf,
  deployment: Deployment,
  { requestId }: RpcContext,
): Promise<NewRun | null> {
  const started = await database.transaction(async (transaction) => {
    const schedule = await lockSchedule(transaction, workflow);
    if (schedule === null) throw scheduleNotFound();
    requireFittingInput(schedule, deployment);
    const scheduledAt = now();
    const run = scheduledRun(schedule, deployment, { scheduledAt, requestId }, runtime);
    const stored = await insertRuns(transaction, [run]);
    if (stored.size === 0) return null;
    await runtime.dispatch(transaction, [run.id]);
    await countRuns(transaction, [{ scheduleId: schedule.id, runId: run.id }], scheduledAt);
    return run;
  });
  if (started !== null) runtime.dispatched(1);
  return started;
}

function requireFittingInput(schedule: ScheduleRow, deployment: Deployment): void {
  const violations = findInputViolations(deployment, inputOf(schedule));
  if (violations.length === 0) return;
  throw new AppError("VALIDATION_ERROR", "The schedule's input does not fit the inputSchema.", {
    violations,
  });
}
