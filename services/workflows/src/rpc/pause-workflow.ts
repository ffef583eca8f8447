import { changesBetween } from "@workflow/audit";
import type { PauseWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { AppError } from "@workflow/errors";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { canBecome, transitionRefused } from "../domain/status.ts";
import { getWorkflow } from "../store/get-workflow.ts";
import { pause } from "../store/set-status.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/** Pauses an active workflow; after the answer no run of it starts (D22). */
export function pauseWorkflow({
  database,
  handOver,
  audit,
}: ServiceContext): UnaryMethod<PauseWorkflowRequest, Workflow> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const key = requireWorkflowKey(request.workflowId, context);
      const row = await database.transaction(async (transaction) => {
        const paused = await pause(transaction, key);
        if (paused === null) return null;
        await audit.record(transaction, context, {
          action: "workflow.paused",
          resourceType: "workflow",
          resourceId: paused.id,
          changes: changesBetween({ status: "active" }, { status: paused.status }),
        });
        return paused;
      });
      if (row === null) {
        const { status } = await getWorkflow(database, key);
        if (!canBecome(status, "paused")) throw transitionRefused(status, "paused");
        throw new AppError("CONFLICT", "The workflow was changed by another request. Try again.");
      }
      audit.wake();
      await handOver(key, context);
      return toWorkflowMessage(row);
    },
  });
}
