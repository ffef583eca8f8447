import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type { Canvas, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { etagOf } from "../domain/etag.ts";
import type { Status } from "../domain/status.ts";
import type { CanvasRow, WorkflowRow } from "../store/workflow-row.ts";

/** The message's value of each status. */
export const MESSAGE_STATUS = {
  draft: WorkflowStatus.DRAFT,
  active: WorkflowStatus.ACTIVE,
  paused: WorkflowStatus.PAUSED,
  archived: WorkflowStatus.ARCHIVED,
} as const satisfies Record<Status, WorkflowStatus>;

/** The message for a stored workflow; JSON goes into it as text. */
export function toWorkflowMessage(row: WorkflowRow, canvas: CanvasRow | null = null): Workflow {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? undefined,
    status: MESSAGE_STATUS[row.status],
    version: row.version,
    triggerJson: row.triggerJson,
    stepsJson: row.stepsJson,
    inputSchemaJson: row.inputSchemaJson ?? undefined,
    outputSchemaJson: row.outputSchemaJson ?? undefined,
    settingsJson: row.settingsJson ?? undefined,
    clonedFrom: row.clonedFrom ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    etag: etagOf(row),
    canvas: canvas === null ? undefined : toCanvasMessage(row, canvas),
  };
}

/** The message for the visual editor's state of a workflow. */
export function toCanvasMessage(
  row: WorkflowRow,
  { stateJson, savedAt, modifiedAt }: CanvasRow,
): Canvas {
  const { id: workflowId, updatedAt } = row;
  return { workflowId, stateJson, savedAt, modifiedAt, updatedAt, etag: etagOf(row) };
}
