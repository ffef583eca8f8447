import { unchanged } from "@workflow/audit";
import { newUuid } from "@workflow/db";
import type { CloneWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { workflowChanges } from "../domain/audit-changes.ts";
import { checkFields } from "../domain/content.ts";
import { cloneWorkflow as cloneRow } from "../store/clone-workflow.ts";
import { workflowNotFound } from "../store/get-workflow.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/**
 * Copies a workflow into a draft. Archived workflows can be copied too, since they can be read.
 * Secrets belong to their workflow and are not copied (D44).
 */
export function cloneWorkflow({
  database,
  audit,
}: ServiceContext): UnaryMethod<CloneWorkflowRequest, Workflow> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const { name } = request;
      checkFields({ name });
      const source = requireWorkflowKey(request.workflowId, context);
      const clone = await database.transaction(async (transaction) => {
        const row = await cloneRow(transaction, source, newUuid(), name);
        if (row === null) throw workflowNotFound();
        await audit.record(transaction, context, {
          action: "workflow.cloned",
          resourceType: "workflow",
          resourceId: row.id,
          changes: {
            ...workflowChanges(null, row),
            ...unchanged({ clonedFrom: source.workflowId }),
          },
        });
        return row;
      });
      audit.wake();
      return toWorkflowMessage(clone);
    },
  });
}
