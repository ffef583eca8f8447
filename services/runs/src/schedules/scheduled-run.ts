import type { Deployment } from "../deployments/deployment-cache.ts";
import { newRun } from "../starting/new-run.ts";
import type { ScheduleRow } from "../store/schedules.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { TaskRuntime } from "../task-runtime/runtime.ts";

/** A run that a schedule starts, to be stored. */
export function scheduledRun(
  schedule: Pick<ScheduleRow, "id" | "input">,
  deployment: Deployment,
  firing: { scheduledAt: Date; requestId: string | null; traceparent: string | null },
  runtime: TaskRuntime,
): NewRun {
  return newRun(runtime, deployment, {
    triggerType: "schedule",
    triggerData: JSON.stringify({
      scheduledAt: firing.scheduledAt.toISOString(),
      scheduleId: schedule.id,
    }),
    scheduleId: schedule.id,
    input: inputOf(schedule),
    requestId: firing.requestId,
    traceparent: firing.traceparent,
  });
}

/** JSON text of the input of a schedule's runs (D14). */
export function inputOf({ input }: Pick<ScheduleRow, "input">): string {
  return input ?? "{}";
}
