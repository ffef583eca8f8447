import { idTimestamp, newId } from "@workflow/db";
import type { Deployment } from "../deployments/deployment-cache.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { TaskRuntime } from "../task-runtime/runtime.ts";

/** What the starter of a run knows of it. The rest follows from the deployment. */
export type NewRunFacts = Pick<NewRun, "triggerType" | "input" | "requestId"> &
  Partial<
    Pick<
      NewRun,
      | "inputValue"
      | "connectionId"
      | "hasSyncWaiter"
      | "idempotencyKey"
      | "triggerData"
      | "scheduleId"
      | "triggerDepth"
      | "parent"
      | "rootRunId"
      | "startFault"
      | "traceparent"
    >
  >;

/** A run of a deployment, to be stored. */
export function newRun(runtime: TaskRuntime, deployment: Deployment, facts: NewRunFacts): NewRun {
  const id = newId("run_");
  return {
    connectionId: null,
    hasSyncWaiter: false,
    idempotencyKey: null,
    triggerData: null,
    scheduleId: null,
    triggerDepth: 0,
    parent: null,
    rootRunId: null,
    startFault: null,
    traceparent: null,
    ...facts,
    id,
    companyId: deployment.companyId,
    workflowId: deployment.workflowId,
    deploymentId: deployment.id,
    workflowVersion: deployment.version,
    taskRuntimeRunId: runtime.runtimeRunId(id),
    // The id's own moment, so that the order of ids is the order of createdAt.
    createdAt: idTimestamp(id),
  };
}
