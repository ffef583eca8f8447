import { Run, RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { StartRunResponse } from "@workflow/proto/runs/v1/starts";
import { Workflow, WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";

export const WORKFLOW_ID = "0197b2a0-0000-7000-8000-000000000001";
export const RUN_ID = "run_01jys0000000000000000000aa";
const AT = new Date("2026-03-01T10:00:00.120Z");

/** A workflow with the given differences from a plain one. */
export function makeWorkflow(
  fields: Parameters<typeof Workflow.fromPartial>[0] = {},
): ReturnType<typeof Workflow.fromPartial> {
  return Workflow.fromPartial({
    id: WORKFLOW_ID,
    name: "Orders",
    status: WorkflowStatus.DRAFT,
    version: 1,
    triggerJson: '{"type":"api"}',
    stepsJson: "[]",
    createdAt: AT,
    updatedAt: AT,
    ...fields,
  });
}

/** A run with the given differences from a pending one. */
export function makeRun(
  fields: Parameters<typeof Run.fromPartial>[0] = {},
): ReturnType<typeof Run.fromPartial> {
  return Run.fromPartial({
    id: RUN_ID,
    workflowId: WORKFLOW_ID,
    workflowName: "Orders",
    workflowVersion: 3,
    status: RunStatus.PENDING,
    triggerType: TriggerType.API,
    createdAt: AT,
    ...fields,
  });
}

/** The answer to a start. */
export function makeStarted(
  fields: Parameters<typeof Run.fromPartial>[0] = {},
  outcome: { existing?: boolean; timedOut?: boolean } = {},
): StartRunResponse {
  return { run: makeRun(fields), existing: false, timedOut: false, ...outcome };
}
