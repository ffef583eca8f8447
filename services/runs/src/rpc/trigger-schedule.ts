import { AppError } from "@workflow/errors";
import type {
  TriggerScheduleRequest,
  TriggerScheduleResponse,
} from "@workflow/proto/runs/v1/schedules";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import { recordedTraceparent } from "@workflow/tracing";
import type { ServiceContext } from "../context.ts";
import { findActiveDeployment, requireActive } from "../deployments/active-deployment.ts";
import type { Deployment } from "../deployments/deployment-cache.ts";
import { findInputViolations } from "../deployments/input-violations.ts";
import { inputOf, scheduledRun } from "../schedules/scheduled-run.ts";
import { startInTransaction } from "../starting/start-in-transaction.ts";
import { untilStored } from "../starting/until-stored.ts";
import { countRuns } from "../store/fire-schedules.ts";
import { findSchedule, lockSchedule } from "../store/schedules.ts";
import type { ScheduleRow, WorkflowOf } from "../store/schedules.ts";
import type { NewRun } from "../store/start-runs.ts";
import { requireWorkflow, scheduleNotFound } from "./schedule-message.ts";
import { acceptedRun } from "./start-run.ts";

/** Starts a run now, as the schedule would, whether it is enabled or not. */
export function triggerSchedule(
  context: ServiceContext,
): UnaryMethod<TriggerScheduleRequest, TriggerScheduleResponse> {
  return rpc({
    scopes: "workflows:execute",
    async handler(request, rpcContext) {
      const workflow = requireWorkflow(request.workflowId, rpcContext.identity);
      await context.backlog.admit(workflow.companyId);
      const { run, deployment } = await untilStored(async () => {
        const current = await getActiveDeployment(context, workflow);
        const started = await start(context, workflow, current, rpcContext);
        return started === null ? null : { run: started, deployment: current };
      });
      return { run: acceptedRun({ run, deployment }) };
    },
  });
}

/** The deployment that the schedule starts at present. */
async function getActiveDeployment(
  context: ServiceContext,
  workflow: WorkflowOf,
): Promise<Deployment> {
  const schedule = await findSchedule(context.database, workflow);
  if (schedule === null) throw scheduleNotFound();
  const found = await findActiveDeployment(context, workflow.companyId, workflow.workflowId);
  if (found.kind === "unknown") throw scheduleNotFound();
  return requireActive(found);
}

/** Null when the deployment was replaced meanwhile. */
async function start(
  context: ServiceContext,
  workflow: WorkflowOf,
  deployment: Deployment,
  { requestId, traceparent: caller }: RpcContext,
): Promise<NewRun | null> {
  return startInTransaction(context, async (transaction, starting) => {
    const schedule = await lockSchedule(transaction, workflow);
    if (schedule === null) throw scheduleNotFound();
    requireFittingInput(schedule, deployment);
    const scheduledAt = context.now();
    const traceparent = recordedTraceparent(context.tracer, caller);
    const firing = { scheduledAt, requestId, traceparent };
    const run = scheduledRun(schedule, deployment, firing, context.runtime);
    const stored = await starting.insert([run]);
    if (stored.size === 0) return null;
    await countRuns(transaction, [{ scheduleId: schedule.id, runId: run.id }], scheduledAt);
    return run;
  });
}

function requireFittingInput(schedule: ScheduleRow, deployment: Deployment): void {
  const violations = findInputViolations(deployment, JSON.parse(inputOf(schedule)));
  if (violations.length === 0) return;
  throw new AppError("VALIDATION_ERROR", "The schedule's input does not fit the inputSchema.", {
    violations,
  });
}
