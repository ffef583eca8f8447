import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { CanvasRow, WorkflowKey, WorkflowRow } from "./workflow-row.ts";

/** @throws AppError NOT_FOUND for a workflow that is missing or of another company */
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
const ownedVisualRow = visualRow.extend({ companyId: z.string() });

const visualColumns = sql.fragment`
  ${workflowColumns},
  workflow.canvas_state::text as "canvasStateJson",
  workflow.canvas_saved_at as "canvasSavedAt",
  coalesce(workflow.modified_at, workflow.updated_at) as "modifiedAt"
`;

/** A workflow with what the visual editor keeps; null where it was never used. */
export interface VisualWorkflow {
  workflow: WorkflowRow;
  canvas: CanvasRow | null;
}

/** Like `getWorkflow`, with what the visual editor keeps. */
export async function getWorkflowWithCanvas(
  database: Queryable,
  key: WorkflowKey,
): Promise<VisualWorkflow> {
  const row = await database.maybeOne(sql.prepared("workflows_get_with_canvas", visualRow)`
    select ${visualColumns}
    from workflows.workflows as workflow
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
  `);
  return row === null ? throwNotFound() : toVisualWorkflow(row);
}

/**
 * Those of some workflows that are there and no larger than `bytesMax`, each with its company. The size is that
 * of the definition, and of the canvas as Postgres has compressed it.
 */
export async function findSmallWorkflows(
  database: Queryable,
  keys: readonly WorkflowKey[],
  bytesMax: number,
): Promise<(VisualWorkflow & { companyId: string })[]> {
  const ids = keys.map(({ workflowId }) => workflowId);
  const companyIds = keys.map(({ companyId }) => companyId);
  const rows = await database.any(sql.prepared("workflows_find_small", ownedVisualRow)`
    select workflow.company_id as "companyId", ${visualColumns}
    from unnest(${sql.array(ids, "uuid")}, ${sql.array(companyIds, "uuid")})
      as wanted (id, company_id)
    join workflows.workflows as workflow
      on workflow.id = wanted.id and workflow.company_id = wanted.company_id
    where workflow.content_bytes <= ${bytesMax}
      and coalesce(pg_column_size(workflow.canvas_state), 0) <= ${bytesMax}
  `);
  return rows.map(({ companyId, ...row }) => ({ companyId, ...toVisualWorkflow(row) }));
}

function toVisualWorkflow(row: z.infer<typeof visualRow>): VisualWorkflow {
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
