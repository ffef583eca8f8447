import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type { Workflow } from "@workflow/proto/workflows/v1/workflows";
import type { Status } from "../domain/status.ts";
import type { WorkflowRow } from "../store/workflow-row.ts";

/** How each status is called in messages. */
export const MESSAGE_STATUS = {
  draft: WorkflowStatus.DRAFT,
  active: WorkflowStatus.ACTIVE,
  paused: WorkflowStatus.PAUSED,
  archived: WorkflowStatus.ARCHIVED,
} as const satisfies Record<Status, WorkflowStatus>;

/** The message for a stored workflow; JSON goes from the database into it as text. */
export function toWorkflowMessage(row: WorkflowRow): Workflow {
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
  };
}
