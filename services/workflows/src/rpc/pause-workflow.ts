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

/** Makes an active workflow paused; once answered, no run of it is started (D22). */
export function pauseWorkflow({
  database,
  handOver,
}: ServiceContext): UnaryMethod<PauseWorkflowRequest, Workflow> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const key = requireWorkflowKey(request.workflowId, context);
      const row = await pause(database, key);
      if (row === null) {
        const { status } = await getWorkflow(database, key);
        if (!canBecome(status, "paused")) throw transitionRefused(status, "paused");
        throw new AppError("CONFLICT", "The workflow was changed by another request. Try again.");
      }
      await handOver(key, context);
      return toWorkflowMessage(row);
    },
  });
}
