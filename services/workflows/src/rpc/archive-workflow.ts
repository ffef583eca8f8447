import { insertEvents } from "@workflow/events";
import type { ArchiveWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { workflowChanges } from "../domain/audit-changes.ts";
import { requireMatch } from "../domain/etag.ts";
import { getWorkflow, lockWorkflow } from "../store/get-workflow.ts";
import { archive } from "../store/set-status.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/**
 * Archives a workflow. Archiving it again changes nothing (D21) but still waits until the execution
 * plane has withdrawn it, so that a caller may repeat a request that got UNAVAILABLE. One event,
 * `workflow.archived`, tells other services to delete what they keep for the workflow.
 */
export function archiveWorkflow({
  database,
  handOver,
  audit,
  onEvents,
}: ServiceContext): UnaryMethod<ArchiveWorkflowRequest, Workflow> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const key = requireWorkflowKey(request.workflowId, context);
      const archived = await database.transaction(async (transaction) => {
        const before = await lockWorkflow(transaction, key);
        if (before.status === "archived") return null;
        requireMatch(request.ifMatch, before);
        const after = await archive(transaction, key);
        if (after === null) return null;
        const { companyId, workflowId } = key;
        const { requestId } = context;
        const event = { type: "workflow.archived", companyId, requestId, data: { workflowId } };
        await insertEvents(transaction, "workflows", [event]);
        await audit.record(transaction, context, {
          action: "workflow.archived",
          resourceType: "workflow",
          resourceId: workflowId,
          changes: workflowChanges(before, after),
        });
        return after;
      });
      if (archived !== null) {
        onEvents();
        audit.wake();
      }
      // Null means archived already, since no transition leaves that status.
      const row = archived ?? (await getWorkflow(database, key));
      await handOver(key, context);
      return toWorkflowMessage(row);
    },
  });
}
