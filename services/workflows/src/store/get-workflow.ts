import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { CanvasRow, WorkflowKey, WorkflowRow } from "./workflow-row.ts";

/** Throws NOT_FOUND for a workflow that is missing or of another company. */
export async function getWorkflow(database: Queryable, key: WorkflowKey): Promise<WorkflowRow> {
  const row = await database.maybeOne(sql.prepared("workflows_get", workflowRow)`
    select ${workflowColumns}
    from workflows.workflows as workflow
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
  `);
  return row ?? throwNotFound();
}

const visualRow = workflowRow.extend({
  canvasStateJson: z.string().nullable(),
  canvasSavedAt: z.date().nullable(),
  modifiedAt: z.date(),
});

/** Like `getWorkflow`, with what the visual editor keeps; null where it was never used. */
export async function getWorkflowWithCanvas(
  database: Queryable,
  key: WorkflowKey,
): Promise<{ workflow: WorkflowRow; canvas: CanvasRow | null }> {
  const row = await database.maybeOne(sql.prepared("workflows_get_with_canvas", visualRow)`
    select
      ${workflowColumns},
      workflow.canvas_state::text as "canvasStateJson",
      workflow.canvas_saved_at as "canvasSavedAt",
      coalesce(workflow.modified_at, workflow.updated_at) as "modifiedAt"
    from workflows.workflows as workflow
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
  `);
  if (row === null) return throwNotFound();
  const { canvasStateJson: stateJson, canvasSavedAt: savedAt, modifiedAt, ...workflow } = row;
  const hasCanvas = stateJson !== null && savedAt !== null;
  return { workflow, canvas: hasCanvas ? { stateJson, savedAt, modifiedAt } : null };
}

/**
 * Like `getWorkflow`, and keeps every other change of the workflow waiting until the transaction
 * ends.
 */
export async function lockWorkflow(
  transaction: Transaction,
  key: WorkflowKey,
): Promise<WorkflowRow> {
  const row = await transaction.maybeOne(sql.prepared("workflows_lock", workflowRow)`
    select ${workflowColumns}
    from workflows.workflows as workflow
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
    for update
  `);
  return row ?? throwNotFound();
}

/** The one answer for workflows that are missing, of another company or named by a wrong id (D1). */
export function workflowNotFound(): AppError {
  return new AppError("NOT_FOUND", "Workflow not found");
}

function throwNotFound(): never {
  throw workflowNotFound();
}
