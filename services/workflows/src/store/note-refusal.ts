import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { WorkflowKey } from "./workflow-row.ts";

const notedRow = z.object({ isTakenBack: z.boolean(), deployedRevision: z.number() });

/** The result for a refused workflow. */
export type NotedRefusal = z.infer<typeof notedRow>;

/**
 * Notes that the execution plane refuses a revision of an active workflow. Null when the revision
 * is no longer the newest, or was accepted meanwhile. A workflow that was not executed since its
 * activation goes back to its former status, which is handed over, because another version of the
 * execution plane may have accepted the refused one.
 */
export async function noteRefusal(
  database: Queryable,
  key: WorkflowKey,
  revision: number,
): Promise<NotedRefusal | null> {
  return database.maybeOne(sql.prepared("workflows_note_refusal", notedRow)`
    with refused as (
      select id, coalesce(deployed_revision < activation_revision, false) as goes_back
      from workflows.workflows
      where id = ${key.workflowId}
        and company_id = ${key.companyId}
        and status = 'active'
        and deploy_revision = ${revision}
        and deployed_revision < ${revision}
      for update
    )
    update workflows.workflows as workflow
    set
      status = case when refused.goes_back then workflow.activated_from else workflow.status end,
      deploy_revision = workflow.deploy_revision + refused.goes_back::integer,
      refused_revision = ${revision},
      refused_at = clock_timestamp(),
      updated_at = case when refused.goes_back then clock_timestamp() else workflow.updated_at end
    from refused
    where workflow.id = refused.id
    returning refused.goes_back as "isTakenBack", workflow.deployed_revision as "deployedRevision"
  `);
}

const refusedRow = z.object({ refusedRevision: z.number().nullable() });

/** The newest revision that the execution plane has refused; null when there is none. */
export async function findRefusedRevision(
  database: Queryable,
  key: WorkflowKey,
): Promise<number | null> {
  const row = await database.maybeOne(sql.prepared("workflows_find_refused", refusedRow)`
    select refused_revision as "refusedRevision"
    from workflows.workflows
    where id = ${key.workflowId} and company_id = ${key.companyId}
  `);
  return row?.refusedRevision ?? null;
}
