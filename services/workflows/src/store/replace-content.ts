import { sql } from "@workflow/db";
import type { SqlFragment, Transaction } from "@workflow/db";
import type { WorkflowContent } from "../domain/content.ts";
import { refuseTakenName } from "./tools.ts";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { WorkflowKey, WorkflowRow } from "./workflow-row.ts";

/** The values that a change of the content writes. */
export interface ContentChange {
  content: WorkflowContent;
  contentBytes: number;
  changeSummary: string | null;
  /** The state of the visual editor; undefined leaves it unchanged. */
  canvasStateJson?: string;
  /** `active`: only active workflows get a new version; others change in place. */
  newVersion: "active" | "always";
}

/**
 * Replaces the content of a workflow that this transaction has locked and that is not archived.
 * With a new version (D20) the old one goes to the history; for an active workflow a hand-over
 * becomes due. One statement does all of it. Null when the workflow is missing or archived. The
 * clock is read inside the statement, because at the start of the transaction another update may
 * still have held the lock.
 */
export async function replaceContent(
  transaction: Transaction,
  key: WorkflowKey,
  { content, contentBytes, changeSummary, canvasStateJson, newVersion }: ContentChange,
): Promise<WorkflowRow | null> {
  const hasCanvas = canvasStateJson !== undefined;
  return transaction
    .maybeOne(
      sql.prepared("workflows_replace_content", workflowRow)`
    with moment as materialized (
      select clock_timestamp() as at
    ),
    ${archivedVersionCte(key, newVersion)},
    step as (
      select count(*)::integer as size from archived_version
    )
    update workflows.workflows as workflow
    set
      name = ${content.name},
      description = ${content.description},
      trigger = ${content.triggerJson},
      steps = ${content.stepsJson},
      input_schema = ${content.inputSchemaJson},
      output_schema = ${content.outputSchemaJson},
      settings = ${content.settingsJson},
      content_bytes = ${contentBytes},
      canvas_state = case when ${hasCanvas} then ${canvasStateJson ?? null} else workflow.canvas_state end,
      canvas_saved_at = case when ${hasCanvas} then moment.at else workflow.canvas_saved_at end,
      content_revision = workflow.content_revision + 1,
      version = workflow.version + step.size,
      version_created_at = case when step.size = 1 then moment.at else workflow.version_created_at end,
      change_summary = case
        when step.size = 1 then ${changeSummary}
        else coalesce(${changeSummary}, workflow.change_summary)
      end,
      deploy_revision = workflow.deploy_revision + (workflow.status = 'active')::integer,
      modified_at = moment.at,
      updated_at = moment.at
    from step, moment
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
      and workflow.status <> 'archived'
    returning ${workflowColumns}
  `,
    )
    .catch(refuseTakenName);
}

/** `archived_version (step)`: one row when the old version went to the history, else none. */
function archivedVersionCte(
  key: WorkflowKey,
  newVersion: ContentChange["newVersion"],
): SqlFragment {
  return sql.fragment`
    archived_version as (
      insert into workflows.workflow_versions (
        workflow_id, version, company_id, name, description, trigger, steps, input_schema,
        output_schema, settings, canvas_state, content_bytes, change_summary, created_at, archived_at
      )
      select
        old.id, old.version, old.company_id, old.name, old.description, old.trigger, old.steps,
        old.input_schema, old.output_schema, old.settings, old.canvas_state, old.content_bytes,
        old.change_summary, old.version_created_at, moment.at
      from workflows.workflows as old, moment
      where old.id = ${key.workflowId}
        and old.company_id = ${key.companyId}
        and (old.status = 'active' or (${newVersion === "always"} and old.status <> 'archived'))
      returning 1 as step
    )
  `;
}
