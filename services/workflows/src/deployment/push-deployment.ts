import type { Database } from "@workflow/db";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import type {
  DeploymentContent,
  DeploymentsServiceService,
  PutDeploymentRequest,
} from "@workflow/proto/runs/v1/deployments";
import type { Identity, RpcClient } from "@workflow/rpc";
import type { Status } from "../domain/status.ts";
import { findDueDeployment, markDeployed } from "../store/deployments.ts";
import type { DueDeployment } from "../store/deployments.ts";
import type { WorkflowKey } from "../store/workflow-row.ts";

/** Client of the execution plane's side of the hand-over. */
type DeploymentsClient = RpcClient<typeof DeploymentsServiceService>;

/** What a push needs. */
export interface PushDependencies {
  database: Database;
  deployments: DeploymentsClient;
}

/** How one push is to be made. */
interface PushOptions {
  deadline: Date;
  signal: AbortSignal;
  requestId?: string;
  traceparent?: string | undefined;
}

/**
 * Tells the execution plane the newest state of a workflow, once; does nothing when it knows that
 * already. State is read when it is sent, and each state has a revision of its own: whoever pushes,
 * however late and in whatever order, never brings back an older one.
 */
export async function pushDeployment(
  { database, deployments }: PushDependencies,
  key: WorkflowKey,
  options: PushOptions,
): Promise<void> {
  const due = await findDueDeployment(database, key);
  if (due === null) return;
  await deployments.putDeployment(toRequest(key.workflowId, due), {
    ...options,
    identity: pusherOf(key.companyId),
  });
  await markDeployed(database, key, due.revision);
}

function toRequest(workflowId: string, due: DueDeployment): PutDeploymentRequest {
  const status = DEPLOYMENT_STATUS_BY_STATUS[due.status];
  if (status === null) throw new Error("A draft has nothing to hand over.");
  return {
    workflowId,
    revision: due.revision,
    status,
    content: due.status === "active" ? toContent(due) : undefined,
  };
}

/** A draft never has a hand-over due: only activation makes the first one. */
const DEPLOYMENT_STATUS_BY_STATUS = {
  draft: null,
  active: DeploymentStatus.ACTIVE,
  paused: DeploymentStatus.PAUSED,
  archived: DeploymentStatus.ARCHIVED,
} as const satisfies Record<Status, DeploymentStatus | null>;

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

/** The service acts in its own name, for the company whose workflow it is. */
function pusherOf(companyId: string): Identity {
  return {
    companyId,
    principal: { type: "service", id: "workflows" },
    scopes: ["internal:deployments"],
  };
}
