import { isUuid } from "@workflow/db";
import type { RpcContext } from "@workflow/rpc";
import { workflowNotFound } from "../store/get-workflow.ts";
import type { WorkflowKey } from "../store/workflow-row.ts";

/**
 * The workflow that a request names, within the caller's company.
 *
 * @throws AppError NOT_FOUND for an id of the wrong form, as for an unknown one (D1)
 */
export function requireWorkflowKey(workflowId: string, { identity }: RpcContext): WorkflowKey {
  if (!isUuid(workflowId)) throw workflowNotFound();
  // Postgres takes either case, the execution plane is told one only.
  return { companyId: identity.companyId, workflowId: workflowId.toLowerCase() };
}
