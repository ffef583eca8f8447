import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import type { WorkflowContent } from "../domain/content.ts";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { WorkflowKey, WorkflowRow } from "./workflow-row.ts";

/** What an update writes. */
interface ContentChange {
  content: WorkflowContent;
  contentBytes: number;
  changeSummary: string | null;
}

/**
 * Replaces the content of a workflow that this transaction has locked and that is not archived. An
 * active one gets the next version, its old one goes to the history, and a hand-over becomes due;
 * others change in place (D20). Both parts are one statement, so neither happens without the other.
 * Null when the workflow is missing or archived. The clock is read inside the statement: at the
 * start of the transaction another update may still have been ahead in the queue for the lock.
 */
export async function replaceContent(
  transaction: Transaction,
  key: WorkflowKey,
  { content, contentBytes, changeSummary }: ContentChange,
): Promise<WorkflowRow | null> {
  return transaction.maybeOne(sql.prepared("workflows_replace_content", workflowRow)`
    with moment as materialized (
      select clock_timestamp() as at
    ),
    archived_version as (
      insert into workflows.workflow_versions (
        workflow_id, version, company_id, name, description, trigger, steps, input_schema,
        output_schema, settings, change_summary, created_at, archived_at
      )
      select
        old.id, old.version, old.company_id, old.name, old.description, old.trigger, old.steps,
        old.input_schema, old.output_schema, old.settings, old.change_summary,
        old.version_created_at, moment.at
      from workflows.workflows as old, moment
      where old.id = ${key.workflowId}
        and old.company_id = ${key.companyId}
        and old.status = 'active'
      returning 1 as step
    ),
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
      content_revision = workflow.content_revision + 1,
      version = workflow.version + step.size,
      version_created_at = case when step.size = 1 then moment.at else workflow.version_created_at end,
      change_summary = case
        when step.size = 1 then ${changeSummary}
        else coalesce(${changeSummary}, workflow.change_summary)
      end,
      deploy_revision = workflow.deploy_revision + step.size,
      updated_at = moment.at
    from step, moment
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
      and workflow.status <> 'archived'
    returning ${workflowColumns}
  `);
}
