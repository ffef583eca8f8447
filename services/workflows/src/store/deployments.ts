import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { STATUSES } from "../domain/status.ts";
import type { WorkflowKey } from "./workflow-row.ts";

const dueDeploymentRow = z.object({
  revision: z.number(),
  status: z.enum(STATUSES),
  name: z.string(),
  version: z.number(),
  triggerJson: z.string(),
  stepsJson: z.string(),
  inputSchemaJson: z.string().nullable(),
  outputSchemaJson: z.string().nullable(),
  settingsJson: z.string().nullable(),
});

/** The state of a workflow for the execution plane, as it is at this moment. */
export type DueDeployment = z.infer<typeof dueDeploymentRow>;

/** Null when the execution plane has the newest state already. */
export async function findDueDeployment(
  database: Queryable,
  key: WorkflowKey,
): Promise<DueDeployment | null> {
  return database.maybeOne(sql.prepared("workflows_find_due_deployment", dueDeploymentRow)`
    select
      deploy_revision as revision,
      status,
      name,
      version,
      trigger::text as "triggerJson",
      steps::text as "stepsJson",
      input_schema::text as "inputSchemaJson",
      output_schema::text as "outputSchemaJson",
      settings::text as "settingsJson"
    from workflows.workflows
    where id = ${key.workflowId}
      and company_id = ${key.companyId}
      and deploy_revision > deployed_revision
  `);
}

const handOverRow = z.object({ isDue: z.boolean(), refusedRevision: z.number().nullable() });

/** How far a workflow's hand-over is, without the workflow's content; null when the workflow is missing. */
export async function findHandOver(database: Queryable, key: WorkflowKey) {
  return database.maybeOne(sql.prepared("workflows_find_hand_over", handOverRow)`
    select
      deploy_revision > deployed_revision as "isDue",
      refused_revision as "refusedRevision"
    from workflows.workflows
    where id = ${key.workflowId} and company_id = ${key.companyId}
  `);
}

const refusedRow = z.object({ refusedRevision: z.number().nullable() });

/**
 * Notes that the execution plane has a revision; one older than noted before changes nothing.
 *
 * @returns the newest revision that it has refused, null when there is none
 */
export async function markDeployed(
  database: Queryable,
  key: WorkflowKey,
  revision: number,
): Promise<number | null> {
  const row = await database.maybeOne(sql.prepared("workflows_mark_deployed", refusedRow)`
    with deployed as (
      update workflows.workflows
      set deployed_revision = ${revision}
      where id = ${key.workflowId}
        and company_id = ${key.companyId}
        and deployed_revision < ${revision}
    )
    select refused_revision as "refusedRevision"
    from workflows.workflows
    where id = ${key.workflowId} and company_id = ${key.companyId}
  `);
  return row?.refusedRevision ?? null;
}

const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** The pause of a refused revision. */
const REFUSED_REST_HOURS = 1;

const dueKeyRow = z.object({ companyId: z.string(), workflowId: z.string() });

/**
 * Workflows of all companies whose hand-over is due, in the order of their ids, from after one
 * (null: the first). Workflows that a request hands over right now are included: leaving them out
 * by age would delay workflows that change all the time, while a second push costs little and
 * changes nothing. A refused revision is tried again only after a pause, since a newer execution
 * plane may accept it.
 */
export async function listDueKeys(
  database: Queryable,
  afterId: string | null,
  limit: number,
): Promise<readonly WorkflowKey[]> {
  return database.any(sql.prepared("workflows_list_due_keys", dueKeyRow)`
    select company_id as "companyId", id as "workflowId"
    from workflows.workflows
    where deploy_revision > deployed_revision
      and id > ${afterId ?? NIL_UUID}
      and (
        refused_revision is distinct from deploy_revision
        or refused_at < now() - ${REFUSED_REST_HOURS} * interval '1 hour'
      )
    order by id
    limit ${limit}
  `);
}
