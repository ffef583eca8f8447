import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { findHead } from "../store/deployments.ts";
import type { DeploymentStatus } from "../store/deployments.ts";
import type { Deployment, DeploymentCache } from "./deployment-cache.ts";

/** What new runs of a workflow execute, or why there can be none. */
export type ActiveDeployment =
  | { kind: "active"; deployment: Deployment }
  | { kind: "inactive"; status: DeploymentStatus }
  | { kind: "unknown" };

/** Looks up what new runs of a company's workflow execute now. */
export async function findActiveDeployment(
  { database, deployments }: { database: Database; deployments: DeploymentCache },
  companyId: string,
  workflowId: string,
): Promise<ActiveDeployment> {
  const head = await findHead(database, companyId, workflowId);
  if (head === null) return { kind: "unknown" };
  const { status, deploymentId } = head;
  if (status !== "active" || deploymentId === null) return { kind: "inactive", status };
  const deployment = (await deployments.getMany([deploymentId])).get(deploymentId);
  if (deployment === undefined) throw new Error("a deployment head names no deployment");
  return { kind: "active", deployment };
}

/**
 * Returns the deployment that was looked up.
 *
 * @throws AppError NOT_FOUND when the workflow does not exist, WORKFLOW_NOT_ACTIVE when it is not active
 */
export function requireActive(found: ActiveDeployment): Deployment {
  if (found.kind === "active") return found.deployment;
  if (found.kind === "unknown") throw new AppError("NOT_FOUND", "Workflow not found");
  throw new AppError("WORKFLOW_NOT_ACTIVE", inactiveMessage("The workflow", found.status), {
    details: { currentStatus: found.status },
  });
}

/** The message that a workflow is not active, with its present status. */
export function inactiveMessage(subject: string, status: DeploymentStatus): string {
  return `${subject} is ${status}, not active.`;
}
