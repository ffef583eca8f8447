import type { Database } from "@workflow/db";
import type { AppError } from "@workflow/errors";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import type {
  DeploymentContent,
  DeploymentsServiceService,
  PutDeploymentRequest,
} from "@workflow/proto/runs/v1/deployments";
import type { RpcClient } from "@workflow/rpc";
import type { Status } from "../domain/status.ts";
import { findDueDeployment, markDeployed } from "../store/deployments.ts";
import type { DueDeployment } from "../store/deployments.ts";
import { findRefusedRevision, noteRefusal } from "../store/note-refusal.ts";
import type { WorkflowKey } from "../store/workflow-row.ts";
import { pusherOf } from "./pusher.ts";
import { activationRefused, isRefusal, versionRefused } from "./refusal.ts";

/** Client of the execution plane's side of the hand-over. */
type DeploymentsClient = RpcClient<typeof DeploymentsServiceService>;

/** What a push needs. */
export interface PushDependencies {
  database: Database;
  deployments: DeploymentsClient;
}

/** How one push is to be made. */
export interface PushOptions {
  deadline: Date;
  signal: AbortSignal;
  requestId?: string;
  traceparent?: string | undefined;
}

/** A revision that the execution plane refuses for good; the error is for the caller who made it. */
export class HandOverRefused extends Error {
  override readonly name = "HandOverRefused";
  override readonly cause: AppError;
  /** The newest revision that is executed all the same; 0 when the workflow is not. */
  readonly executedRevision: number;

  constructor(cause: AppError, executedRevision: number) {
    super("the execution plane refuses a deployment");
    this.cause = cause;
    this.executedRevision = executedRevision;
  }
}

/**
 * Tells the execution plane the newest state of a workflow, once; does nothing when it knows that
 * already. State is read when it is sent, and each state has a revision of its own: whoever pushes,
 * however late and in whatever order, never brings back an older one.
 *
 * @returns the newest revision that the execution plane has refused; null when there is none
 * @throws HandOverRefused when the state is refused, which is noted then; AppError when it did not
 * arrive, or was refused but is no longer the newest
 */
export async function pushDeployment(
  { database, deployments }: PushDependencies,
  key: WorkflowKey,
  options: PushOptions,
): Promise<number | null> {
  const due = await findDueDeployment(database, key);
  if (due === null) return findRefusedRevision(database, key);
  try {
    await deployments.putDeployment(toRequest(key.workflowId, due), {
      ...options,
      identity: pusherOf(key.companyId),
    });
  } catch (error) {
    if (!isRefusal(error) || due.status !== "active") throw error;
    const noted = await noteRefusal(database, key, due.revision);
    if (noted === null) throw error;
    throw noted.isTakenBack
      ? new HandOverRefused(activationRefused(error), 0)
      : new HandOverRefused(versionRefused(error), noted.deployedRevision);
  }
  return markDeployed(database, key, due.revision);
}

function toRequest(workflowId: string, due: DueDeployment): PutDeploymentRequest {
  return {
    workflowId,
    revision: due.revision,
    status: DEPLOYMENT_STATUS_BY_STATUS[due.status],
    content: due.status === "active" ? toContent(due) : undefined,
  };
}

const DEPLOYMENT_STATUS_BY_STATUS = {
  // For a draft, the hand-over tells that its activation was reverted.
  draft: DeploymentStatus.PAUSED,
  active: DeploymentStatus.ACTIVE,
  paused: DeploymentStatus.PAUSED,
  archived: DeploymentStatus.ARCHIVED,
} as const satisfies Record<Status, DeploymentStatus>;

function toContent(due: DueDeployment): DeploymentContent {
  return {
    name: due.name,
    version: due.version,
    triggerJson: due.triggerJson,
    stepsJson: due.stepsJson,
    inputSchemaJson: due.inputSchemaJson ?? undefined,
    outputSchemaJson: due.outputSchemaJson ?? undefined,
    settingsJson: due.settingsJson ?? undefined,
  };
}
