import { newUuid, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";

const nothing = z.object({});
const revisionRow = z.object({ revision: z.number() });
const ownerRow = revisionRow.extend({ companyId: z.string() });

/** The executable content of a workflow; documents are JSON text. */
export interface DeploymentContent {
  name: string;
  version: number;
  trigger: string;
  steps: string;
  inputSchema: string | null;
  outputSchema: string | null;
  settings: string | null;
  tags: readonly string[];
}

/** Whether runs of a deployed workflow may start. */
export type DeploymentStatus = "active" | "paused" | "archived";

/** A workflow's state of deployment from a revision on. */
export interface DeploymentState {
  companyId: string;
  workflowId: string;
  revision: number;
  status: DeploymentStatus;
  content: DeploymentContent | null;
  /**
   * The key of the events that the content waits for; null when it waits for none, or there is no
   * content.
   */
  triggerKey: string | null;
}

/** The result of storing a deployment. */
export interface PutResult {
  /** The newest revision known now. */
  revision: number;
  /** Whether the state has become the newest one by this call. */
  isNewer: boolean;
}

/**
 * Stores a state as the newest one unless a newer is known, in one conditional statement. The same
 * revision twice is one deployment.
 *
 * @throws AppError NOT_FOUND when the workflow is another company's
 */
export async function putDeployment(
  transaction: Transaction,
  state: DeploymentState,
): Promise<PutResult> {
  const deploymentId = state.content === null ? null : newUuid();
  if (state.content !== null) {
    const { content } = state;
    await transaction.query(sql.type(nothing)`
      insert into runs.deployments (
        id, company_id, workflow_id, revision, version, name, trigger, steps, input_schema,
        output_schema, settings, tags
      )
      values (
        ${deploymentId}, ${state.companyId}, ${state.workflowId}, ${state.revision},
        ${content.version}, ${content.name}, ${content.trigger}, ${content.steps},
        ${content.inputSchema}, ${content.outputSchema}, ${content.settings},
        ${sql.array([...content.tags], "text")}
      )
      on conflict on constraint deployments_revision_key do nothing
    `);
  }
  const head = await transaction.maybeOne(sql.type(revisionRow)`
    insert into runs.deployment_heads as head (
      workflow_id, company_id, revision, status, deployment_id, trigger_key
    )
    values (
      ${state.workflowId}, ${state.companyId}, ${state.revision}, ${state.status},
      (
        select id from runs.deployments
        where workflow_id = ${state.workflowId} and revision = ${state.revision}
      ),
      ${state.triggerKey}
    )
    on conflict on constraint deployment_heads_pkey do update
    set revision = excluded.revision,
      status = excluded.status,
      deployment_id = coalesce(excluded.deployment_id, head.deployment_id),
      trigger_key = case
        when excluded.deployment_id is null then head.trigger_key else excluded.trigger_key
      end,
      updated_at = now()
    where head.revision < excluded.revision and head.company_id = excluded.company_id
    returning head.revision
  `);
  if (head !== null) return { revision: head.revision, isNewer: true };
  const newest = await transaction.one(sql.type(ownerRow)`
    select revision, company_id as "companyId"
    from runs.deployment_heads
    where workflow_id = ${state.workflowId}
  `);
  // This rolls back the content, too. Else it would replace the content of the owner's revision.
  if (newest.companyId !== state.companyId) throw new AppError("NOT_FOUND", "Workflow not found");
  return { revision: newest.revision, isNewer: false };
}

const headRow = z.object({
  status: z.enum(["active", "paused", "archived"]),
  deploymentId: z.string().nullable(),
});

/** A workflow's newest state; null when it was never deployed in this company. */
export async function findHead(queryable: Queryable, companyId: string, workflowId: string) {
  return queryable.maybeOne(sql.prepared("head_find", headRow)`
    select status, deployment_id as "deploymentId" from runs.deployment_heads
    where workflow_id = ${workflowId} and company_id = ${companyId}
  `);
}

const deploymentRow = z.object({
  id: z.string(),
  companyId: z.string(),
  workflowId: z.string(),
  version: z.number(),
  name: z.string(),
  trigger: z.string(),
  steps: z.string(),
  inputSchema: z.string().nullable(),
  outputSchema: z.string().nullable(),
  settings: z.string().nullable(),
});

/** A deployment's content as stored. */
export type DeploymentRow = z.infer<typeof deploymentRow>;

/** Deployments by id; unknown ids are left out. */
export async function listDeployments(queryable: Queryable, ids: readonly string[]) {
  return queryable.any(sql.prepared("deployments_list", deploymentRow)`
    select id, company_id as "companyId", workflow_id as "workflowId", version, name,
      trigger::text, steps::text,
      input_schema::text as "inputSchema", output_schema::text as "outputSchema", settings::text
    from runs.deployments
    where id = any(${sql.array([...ids], "uuid")})
  `);
}
