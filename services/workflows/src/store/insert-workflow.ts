import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import type { WorkflowContent } from "../domain/content.ts";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { WorkflowKey, WorkflowRow } from "./workflow-row.ts";

/** The content of a new workflow. */
interface NewWorkflow {
  content: WorkflowContent;
  /** As `measureContent` has found. */
  contentBytes: number;
  /** The visual editor's state; null, or missing, where there is none. */
  canvasStateJson?: string | null | undefined;
}

/** Stores a new workflow as draft, version 1. */
export async function insertWorkflow(
  database: Queryable,
  key: WorkflowKey,
  { content, contentBytes, canvasStateJson = null }: NewWorkflow,
): Promise<WorkflowRow> {
  return database.one(sql.prepared("workflows_insert", workflowRow)`
    insert into workflows.workflows as workflow (
      id, company_id, name, description, status, trigger, steps, input_schema, output_schema,
      settings, content_bytes, canvas_state, canvas_saved_at, modified_at
    )
    values (
      ${key.workflowId}, ${key.companyId}, ${content.name}, ${content.description}, 'draft',
      ${content.triggerJson}, ${content.stepsJson}, ${content.inputSchemaJson},
      ${content.outputSchemaJson}, ${content.settingsJson}, ${contentBytes}, ${canvasStateJson},
      case when ${canvasStateJson !== null} then now() end, now()
    )
    returning ${workflowColumns}
  `);
}
