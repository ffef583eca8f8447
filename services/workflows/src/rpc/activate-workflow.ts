import { changesBetween } from "@workflow/audit";
import { AppError } from "@workflow/errors";
import type { ActivateWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { canBecome, transitionRefused } from "../domain/status.ts";
import { getWorkflow } from "../store/get-workflow.ts";
import { activate as activateRow } from "../store/set-status.ts";
import type { WorkflowKey, WorkflowRow } from "../store/workflow-row.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/** The number of attempts when a workflow changes between its validation and its activation. */
const ATTEMPTS_MAX = 5;

/** Makes a draft or paused workflow active and deploys it before the answer (D22). */
export function activateWorkflow(
  service: ServiceContext,
): UnaryMethod<ActivateWorkflowRequest, Workflow> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const key = requireWorkflowKey(request.workflowId, context);
      const row = await activate(service, key, context);
      service.audit.wake();
      await service.handOver(key, context, row.deployRevision);
      return toWorkflowMessage(row);
    },
  });
}

/** Activates exactly what was validated; after a change in between it validates again. */
async function activate(
  { database, audit, checker }: ServiceContext,
  key: WorkflowKey,
  context: RpcContext,
): Promise<WorkflowRow> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const current = await getWorkflow(database, key);
    if (!canBecome(current.status, "active")) throw transitionRefused(current.status, "active");
    const { companyId } = key;
    const question = { companyId, content: current, mayBeUnfinished: false, toBeDeployed: true };
    await checker.requireValid(question);
    const row = await database.transaction(async (transaction) => {
      const activated = await activateRow(transaction, key, current.contentRevision);
      if (activated === null) return null;
      await audit.record(transaction, context, {
        action: "workflow.activated",
        resourceType: "workflow",
        resourceId: activated.id,
        changes: changesBetween({ status: current.status }, { status: activated.status }),
      });
      return activated;
    });
    if (row !== null) return row;
  }
  throw new AppError("CONFLICT", "The workflow keeps changing. Try again.");
}
