import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { z } from "zod";
import type { WorkflowKey } from "../domain/secret-place.ts";

const nothing = z.object({});

/**
 * Locks the secrets of a workflow, and the note that it is archived, until the transaction ends. Later
 * statements see earlier commits of others, so they can count.
 */
export async function lockWorkflow(
  transaction: Transaction,
  { companyId, workflowId }: WorkflowKey,
): Promise<void> {
  const name = `integrations secrets ${companyId} ${workflowId}`;
  await transaction.query(sql.prepared("workflow_lock", nothing)`
    select pg_advisory_xact_lock(hashtextextended(${name}, 0))
  `);
}

/** Notes that a workflow is archived and deletes its secrets. Repeating it is harmless. */
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
