import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type { Canvas, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/** The statuses of a workflow by their names in the REST contract. */
export const WORKFLOW_STATUSES = {
  draft: WorkflowStatus.DRAFT,
  active: WorkflowStatus.ACTIVE,
  paused: WorkflowStatus.PAUSED,
  archived: WorkflowStatus.ARCHIVED,
} as const;

const STATUS_NAMES = new Map<WorkflowStatus, string>(
  Object.entries(WORKFLOW_STATUSES).map(([name, status]) => [status, name]),
);

/** The contract's name of a status. */
export function workflowStatusName(status: WorkflowStatus): string {
  return STATUS_NAMES.get(status) ?? "unknown";
}

/** A workflow as the contract shows it; with a canvas it has the editor's members too. */
export function workflowJson(workflow: Workflow): { readonly [field: string]: Writable } {
  return {
    id: workflow.id,
    name: workflow.name,
    description: workflow.description,
    status: workflowStatusName(workflow.status),
    version: workflow.version,
    trigger: rawOrNull(workflow.triggerJson),
    steps: rawOrNull(workflow.stepsJson),
    inputSchema: rawOrNull(workflow.inputSchemaJson),
    outputSchema: rawOrNull(workflow.outputSchemaJson),
    settings: rawOrNull(workflow.settingsJson),
    clonedFrom: workflow.clonedFrom,
    createdAt: workflow.createdAt,
    updatedAt: workflow.updatedAt,
    ...(workflow.canvas === undefined ? {} : canvasFields(workflow.canvas)),
  };
}

/** The members about the visual editor's state, by the names of the contract. */
export function canvasFields({ stateJson, savedAt, modifiedAt }: Canvas) {
  return {
    canvasState: rawOrNull(stateJson),
    isVisual: true,
    lastSavedAt: savedAt,
    lastModifiedAt: modifiedAt,
  };
}
