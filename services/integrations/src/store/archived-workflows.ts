import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { z } from "zod";
import type { WorkflowKey } from "../domain/secret-place.ts";

const nothing = z.object({});

/**
 * Keeps a workflow's archiving and the creation of its secrets apart until the transaction ends:
 * `create` may be held by many at once, `archive` by one and by no `create` beside it. The
 * statements after it see what others committed before.
 */
export async function lockWorkflow(
  transaction: Transaction,
  workflow: WorkflowKey,
  purpose: "create" | "archive",
): Promise<void> {
  const name = `integrations secrets ${workflow.companyId} ${workflow.workflowId}`;
  await transaction.query(
    purpose === "create"
      ? sql.prepared("workflow_lock_create", nothing)`
          select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))
        `
      : sql.prepared("workflow_lock_archive", nothing)`
          select pg_advisory_xact_lock(hashtextextended(${name}, 0))
        `,
  );
}

/** Notes that a workflow is archived and deletes its secrets. May be done again. */
export async function forgetWorkflow(
  transaction: Transaction,
  { companyId, workflowId }: WorkflowKey,
): Promise<void> {
  await transaction.query(sql.prepared("workflow_note_archived", nothing)`
    insert into integrations.archived_workflows (company_id, workflow_id)
    values (${companyId}, ${workflowId})
    on conflict (company_id, workflow_id) do nothing
  `);
  await transaction.query(sql.prepared("workflow_delete_secrets", nothing)`
    delete from integrations.secrets
    where company_id = ${companyId} and workflow_id = ${workflowId}
  `);
}
