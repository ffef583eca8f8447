import { newUuid } from "@workflow/db";
import { planDefinition } from "@workflow/definition";
import { invalidRequest } from "@workflow/errors";
import type {
  ImportWorkflowRequest,
  ImportWorkflowResponse,
} from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { workflowChanges } from "../domain/audit-changes.ts";
import { checkCanvasState } from "../domain/canvas-state.ts";
import { checkContent } from "../domain/content.ts";
import { insertWorkflow } from "../store/insert-workflow.ts";
import { toContent } from "./create-workflow.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/** Stores an exported workflow, and returns what it needs before it can run. */
export function importWorkflow({
  database,
  audit,
  checker,
}: ServiceContext): UnaryMethod<ImportWorkflowRequest, ImportWorkflowResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      if (request.content === undefined) {
        throw invalidRequest([{ path: ["content"], message: "must be set" }]);
      }
      const { content, contentBytes, definition } = checkContent(toContent(request.content));
      const canvasStateJson =
        request.canvasStateJson === undefined
          ? undefined
          : checkCanvasState(request.canvasStateJson).text;
      const { companyId } = context.identity;
      await checker.requireValid({ companyId, content, mayBeUnfinished: false });
      const key = { companyId, workflowId: newUuid() };
      const row = await database.transaction(async (transaction) => {
        const imported = await insertWorkflow(transaction, key, {
          content,
          contentBytes,
          canvasStateJson,
        });
        await audit.record(transaction, context, {
          action: "workflow.imported",
          resourceType: "workflow",
          resourceId: imported.id,
          changes: workflowChanges(null, imported),
        });
        return imported;
      });
      audit.wake();
      const plan = planDefinition(definition, {
        violations: [],
        input: {},
        workflowId: row.id,
        version: row.version,
        now: row.createdAt,
      });
      const connections = new Set([
        ...plan.triggerProviders,
        ...plan.unnamedProviders,
        ...plan.namedConnections.map(({ connectionId }) => connectionId),
      ]);
      return {
        workflow: toWorkflowMessage(row),
        secretKeys: plan.secretKeys,
        connectionProviders: [...connections].toSorted(),
        agentIds: plan.agentIds,
      };
    },
  });
}
