import { isUuid } from "@workflow/db";
import type { CompiledTrigger } from "@workflow/definition";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import type {
  PutDeploymentRequest,
  PutDeploymentResponse,
} from "@workflow/proto/runs/v1/deployments";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { deploymentRefused } from "../deployments/content-reader.ts";
import type { ContentReader } from "../deployments/content-reader.ts";
import { triggerKeyOf } from "../domain/trigger-key.ts";
import { syncSchedule } from "../schedules/sync-schedule.ts";
import { putDeployment as putState } from "../store/deployments.ts";
import type { DeploymentState } from "../store/deployments.ts";

/** Stores a workflow's newest executable state. */
export function putDeployment({
  contents,
  database,
  now,
}: ServiceContext): UnaryMethod<PutDeploymentRequest, PutDeploymentResponse> {
  return rpc({
    scopes: "internal:deployments",
    async handler(request, { identity }) {
      const { state, trigger } = await parseState(contents, request, identity.companyId);
      return database.transaction(async (transaction) => {
        const { revision, isNewer } = await putState(transaction, state);
        if (isNewer) await syncSchedule(transaction, { ...state, trigger }, now());
        return { revision };
      });
    },
  });
}

interface ParsedRequest {
  state: DeploymentState;
  /** Null when the request has no content. */
  trigger: CompiledTrigger | null;
}

async function parseState(
  contents: ContentReader,
  request: PutDeploymentRequest,
  companyId: string,
): Promise<ParsedRequest> {
  if (!isUuid(request.workflowId)) throw refused("workflow_id", "must be a UUID");
  if (request.revision < 1) throw refused("revision", "must be 1 or more");
  const status = parseStatus(request.status);
  if (status === "active" && request.content === undefined) {
    throw refused("content", "is required when the status is active");
  }
  const { content } = request;
  const parsed = content === undefined ? null : await contents.read(companyId, content);
  return {
    state: {
      companyId,
      workflowId: request.workflowId,
      revision: request.revision,
      status,
      content: parsed?.content ?? null,
      triggerKey: parsed === null ? null : triggerKeyOf(parsed.trigger),
    },
    trigger: parsed?.trigger ?? null,
  };
}

function parseStatus(status: DeploymentStatus): DeploymentState["status"] {
  switch (status) {
    case DeploymentStatus.ACTIVE:
      return "active";
    case DeploymentStatus.PAUSED:
      return "paused";
    case DeploymentStatus.ARCHIVED:
      return "archived";
    case DeploymentStatus.UNSPECIFIED:
    case DeploymentStatus.UNRECOGNIZED:
    default:
      throw refused("status", "must be active, paused or archived");
  }
}

function refused(field: string, message: string) {
  return deploymentRefused([{ path: ["content", field], message }]);
}
