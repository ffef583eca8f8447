import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { WorkflowKey, WorkflowRow } from "./workflow-row.ts";

/**
 * Stores a copy of a workflow, of whatever status, as draft, version 1. Null without a workflow.
 * One statement copies one moment.
 */
export async function cloneWorkflow(
  database: Queryable,
  source: WorkflowKey,
  cloneId: string,
  name: string,
): Promise<WorkflowRow | null> {
  return database.maybeOne(sql.prepared("workflows_clone", workflowRow)`
    insert into workflows.workflows as workflow (
      id, company_id, name, description, status, trigger, steps, input_schema, output_schema,
      settings, content_bytes, cloned_from, canvas_state, canvas_saved_at, modified_at
    )
    select
      ${cloneId}, source.company_id, ${name}, source.description, 'draft', source.trigger,
      source.steps, source.input_schema, source.output_schema, source.settings,
      source.content_bytes, source.id, source.canvas_state,
      case when source.canvas_state is not null then now() end, now()
    from workflows.workflows as source
    where source.id = ${source.workflowId}
      and source.company_id = ${source.companyId}
    returning ${workflowColumns}
  `);
}
