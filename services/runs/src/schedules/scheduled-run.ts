import { idTimestamp, newId } from "@workflow/db";
import type { Violation } from "@workflow/errors";
import type { Deployment } from "../engine/deployment-cache.ts";
import type { ScheduleRow } from "../store/schedules.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { TaskRuntime } from "../task-runtime/port.ts";

/** A run that a schedule starts, to be inserted. */
export function scheduledRun(
  schedule: Pick<ScheduleRow, "id" | "company_id" | "workflow_id" | "input">,
  deployment: Deployment,
  firing: { scheduledAt: Date; requestId: string | null },
  runtime: TaskRuntime,
): NewRun {
  const id = newId("run_");
  return {
    id,
    companyId: schedule.company_id,
    workflowId: schedule.workflow_id,
    deploymentId: deployment.id,
    workflowVersion: deployment.version,
    triggerType: "schedule",
    triggerData: JSON.stringify({
      scheduledAt: firing.scheduledAt.toISOString(),
      scheduleId: schedule.id,
    }),
    scheduleId: schedule.id,
    input: inputOf(schedule),
    connectionId: null,
    taskRuntimeRunId: runtime.runtimeRunId(id),
    awaited: false,
    requestId: firing.requestId,
    createdAt: idTimestamp(id),
  };
}

/** JSON text of the input of the runs that a schedule starts (D14). */
export function inputOf({ input }: Pick<ScheduleRow, "input">): string {
  return input ?? "{}";
}

/**
 * What the workflow's inputSchema has against an input, given as JSON text.
 *
 * @throws Error when this release cannot execute the deployment
 */
export function findInputViolations({ compiled }: Deployment, input: string): readonly Violation[] {
  if (compiled === null) throw new Error("the deployment does not compile");
  return compiled.inputSchema?.validate(JSON.parse(input)) ?? [];
}
