import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { WorkflowKey, WorkflowRow } from "./workflow-row.ts";

/**
 * Stores the state of the visual editor only; the definition and its version stay (D20). Null when
 * the workflow is missing or archived.
 */
export async function saveCanvas(
  transaction: Transaction,
  key: WorkflowKey,
  canvasStateJson: string,
): Promise<WorkflowRow | null> {
  return transaction.maybeOne(sql.prepared("workflows_save_canvas", workflowRow)`
    with moment as materialized (
      select clock_timestamp() as at
    )
    update workflows.workflows as workflow
    set
      canvas_state = ${canvasStateJson},
      canvas_saved_at = moment.at,
      content_revision = workflow.content_revision + 1,
      modified_at = moment.at,
      updated_at = moment.at
    from moment
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
      and workflow.status <> 'archived'
    returning ${workflowColumns}
  `);
}
