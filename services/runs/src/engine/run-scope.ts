import type { TemplateScope } from "@workflow/definition";
import type { Deployment } from "../deployments/deployment-cache.ts";
import type { Clock } from "../domain/clock.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { StepScopes } from "../interpreter/step-scopes.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { LoadedRun } from "./load-runs.ts";

/** The facts of a run that stay the same during its execution. */
export function factsOf(
  { row }: LoadedRun,
  { fence }: Lease,
  deployment: Deployment,
  clock: Clock,
): Omit<RunFacts, "traceparent"> {
  return {
    id: row.id,
    epoch: fence,
    companyId: row.companyId,
    workflowId: row.workflowId,
    workflowName: deployment.name,
    workflowVersion: row.workflowVersion,
    triggerType: row.triggerType,
    requestId: row.requestId,
    createdAt: row.createdAt,
    // The clocks of the process that accepts a run and of the one that begins it differ by some
    // milliseconds.
    startedAt: row.startedAt ?? new Date(Math.max(clock.now(), row.createdAt.getTime())),
    started: row.startedAt !== null,
    scheduleId: row.scheduleId,
    waitingParentRunId: row.parentWaits ? row.parentRunId : null,
    depth: row.depth,
    triggerDepth: row.triggerDepth,
    rootRunId: row.rootRunId,
    connectionId: row.connectionId,
    startFault: row.startFault,
    limited: deployment.compiled?.definition.settings.concurrency !== undefined,
    asksApproval: deployment.compiled?.asksApproval ?? false,
    waitsForRuns: deployment.compiled?.waitsForRuns ?? false,
  };
}

/** What templates see of the run (D19). */
export function scopeOf(
  { row, inputValue }: LoadedRun,
  facts: RunFacts,
  steps: StepScopes,
  secrets: TemplateScope["secrets"],
): TemplateScope {
  const trigger: unknown = row.triggerData === null ? {} : JSON.parse(row.triggerData);
  return {
    input: inputValue === undefined ? JSON.parse(row.input) : inputValue,
    steps,
    secrets,
    trigger: { ...(isObjectOrArray(trigger) ? trigger : {}), type: facts.triggerType },
    run: {
      id: facts.id,
      workflowId: facts.workflowId,
      version: facts.workflowVersion,
      startedAt: facts.startedAt.toISOString(),
    },
    loop: null,
  };
}

function isObjectOrArray(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
