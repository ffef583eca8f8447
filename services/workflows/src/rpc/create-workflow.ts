import { newUuid } from "@workflow/db";
import type { CreateWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { workflowChanges } from "../domain/audit-changes.ts";
import { checkContent } from "../domain/content.ts";
import type { WorkflowContent } from "../domain/content.ts";
import { insertWorkflow } from "../store/insert-workflow.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/** Stores a new workflow as draft, version 1. */
export function createWorkflow({
  database,
  audit,
  checker,
}: ServiceContext): UnaryMethod<CreateWorkflowRequest, Workflow> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const { content, contentBytes } = checkContent(toContent(request));
      const { companyId } = context.identity;
      await checker.requireValid({ companyId, content, mayBeUnfinished: false });
      const key = { companyId, workflowId: newUuid() };
      const created = await database.transaction(async (transaction) => {
        const row = await insertWorkflow(transaction, key, { content, contentBytes });
        await audit.record(transaction, context, {
          action: "workflow.created",
          resourceType: "workflow",
          resourceId: row.id,
          changes: workflowChanges(null, row),
        });
        return row;
      });
      audit.wake();
      return toWorkflowMessage(created);
    },
  });
}

/** The content in a request. */
export function toContent(request: CreateWorkflowRequest): WorkflowContent {
  return {
    name: request.name,
    description: request.description ?? null,
    triggerJson: request.triggerJson,
    stepsJson: request.stepsJson,
    inputSchemaJson: request.inputSchemaJson ?? null,
    outputSchemaJson: request.outputSchemaJson ?? null,
    settingsJson: request.settingsJson ?? null,
  };
}
