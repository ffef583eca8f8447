import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { statusesBefore } from "../domain/status.ts";
import { refuseTakenName } from "./tools.ts";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { WorkflowKey, WorkflowRow } from "./workflow-row.ts";

/**
 * Activates a workflow and makes its hand-over due, provided that its status allows it and its
 * content is still the validated revision; else null. The former status is kept for the case that
 * the execution plane refuses.
 */
export async function activate(
  database: Queryable,
  key: WorkflowKey,
  validatedRevision: number,
): Promise<WorkflowRow | null> {
  return database
    .maybeOne(
      sql.prepared("workflows_activate", workflowRow)`
    update workflows.workflows as workflow
    set
      status = 'active',
      activated_from = workflow.status,
      activation_revision = workflow.deploy_revision + 1,
      deploy_revision = workflow.deploy_revision + 1,
      updated_at = clock_timestamp()
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
      and workflow.status = any(${sql.array(statusesBefore("active"), "text")})
      and workflow.content_revision = ${validatedRevision}
    returning ${workflowColumns}
  `,
    )
    .catch(refuseTakenName);
}

/** Pauses a workflow and makes its hand-over due, provided that its status allows it; else null. */
export async function pause(database: Queryable, key: WorkflowKey): Promise<WorkflowRow | null> {
  return database.maybeOne(sql.prepared("workflows_pause", workflowRow)`
    update workflows.workflows as workflow
    set
      status = 'paused',
      deploy_revision = workflow.deploy_revision + 1,
      updated_at = clock_timestamp()
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
      and workflow.status = any(${sql.array(statusesBefore("paused"), "text")})
    returning ${workflowColumns}
  `);
}

/**
 * Archives a workflow that is not archived yet, else null. A hand-over becomes due only if the
 * execution plane has ever received the workflow.
 */
export async function archive(database: Queryable, key: WorkflowKey): Promise<WorkflowRow | null> {
  return database.maybeOne(sql.prepared("workflows_archive", workflowRow)`
    update workflows.workflows as workflow
    set
      status = 'archived',
      deploy_revision = workflow.deploy_revision + (workflow.deploy_revision > 0)::integer,
      updated_at = clock_timestamp()
    where workflow.id = ${key.workflowId}
      and workflow.company_id = ${key.companyId}
      and workflow.status = any(${sql.array(statusesBefore("archived"), "text")})
    returning ${workflowColumns}
  `);
}
