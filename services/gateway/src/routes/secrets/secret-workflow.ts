import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type { RouteContext } from "../../route-context.ts";

/**
 * Whether the caller's workflow is archived, which leaves it without secrets (D44).
 *
 * @throws AppError NOT_FOUND when the caller has no such workflow: the service that keeps secrets
 * knows workflows by id only
 */
export async function isArchived(
  { workflows, callWithScope }: RouteContext,
  workflowId: string,
): Promise<boolean> {
  const workflow = await workflows.getWorkflow({ workflowId }, callWithScope("workflows:read"));
  return workflow.status === WorkflowStatus.ARCHIVED;
}
