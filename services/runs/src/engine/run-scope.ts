import type { TemplateScope } from "@workflow/definition";
import type { RunFacts } from "../domain/run-facts.ts";
import type { StepScopes } from "../interpreter/step-scopes.ts";
import type { Deployment } from "./deployment-cache.ts";
import type { LoadedRun } from "./load-runs.ts";

/** What does not change while a run is executed. */
export function factsOf({ row }: LoadedRun, deployment: Deployment): RunFacts {
  return {
    id: row.id,
    companyId: row.company_id,
    workflowId: row.workflow_id,
    workflowName: deployment.name,
    workflowVersion: row.workflow_version,
    triggerType: row.trigger_type,
    requestId: row.request_id,
    createdAt: row.created_at,
    startedAt: row.started_at ?? new Date(),
    started: row.started_at !== null,
    scheduleId: row.schedule_id,
    waitingParentRunId: row.parent_waits ? row.parent_run_id : null,
    depth: row.depth,
    triggerDepth: row.trigger_depth,
    limited: deployment.compiled?.definition.settings.concurrency !== undefined,
    asksApproval: deployment.compiled?.asksApproval ?? false,
    waitsForRuns: deployment.compiled?.waitsForRuns ?? false,
  };
}

/** What templates see (D19). */
export function scopeOf(
  { row }: LoadedRun,
  facts: RunFacts,
  steps: StepScopes,
  secrets: ReadonlyMap<string, string>,
): TemplateScope {
  const trigger: unknown = row.trigger_data === null ? {} : JSON.parse(row.trigger_data);
  return {
    input: JSON.parse(row.input),
    steps,
    secrets,
    trigger: { ...(isObject(trigger) ? trigger : {}), type: facts.triggerType },
    run: {
      id: facts.id,
      workflowId: facts.workflowId,
      version: facts.workflowVersion,
      startedAt: facts.startedAt.toISOString(),
    },
    loop: null,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
