import type { GetWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/** Returns one workflow with its visual editor's state, archived ones included (D21). */
export function getWorkflow({ reads }: ServiceContext): UnaryMethod<GetWorkflowRequest, Workflow> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, context) {
      const key = requireWorkflowKey(request.workflowId, context);
      const { workflow, canvas } = await reads.get(key);
      return toWorkflowMessage(workflow, canvas);
    },
  });
}
