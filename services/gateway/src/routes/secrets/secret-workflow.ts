import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type { RouteContext } from "../../route-context.ts";

/**
 * Whether the caller's workflow is archived and so has no secrets (D44). The service that stores
 * secrets knows workflows by id only, so the gateway checks.
 *
 * @throws AppError NOT_FOUND when the caller has no such workflow
 */
export async function isArchived(
  { workflows, callWithScope }: RouteContext,
  workflowId: string,
): Promise<boolean> {
  const workflow = await workflows.getWorkflow({ workflowId }, callWithScope("workflows:read"));
  return workflow.status === WorkflowStatus.ARCHIVED;
}
