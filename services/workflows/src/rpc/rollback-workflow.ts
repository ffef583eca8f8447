import { unchanged } from "@workflow/audit";
import type {
  RollbackWorkflowRequest,
  RollbackWorkflowResponse,
} from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { workflowChanges } from "../domain/audit-changes.ts";
import { parseChangeSummary } from "../domain/change-summary.ts";
import { contentOf, measureContent } from "../domain/content.ts";
import { requireChangeable } from "../domain/status.ts";
import { lockWorkflow } from "../store/get-workflow.ts";
import { replaceContent } from "../store/replace-content.ts";
import { getRestorableVersion } from "../store/versions.ts";
import type { WorkflowKey, WorkflowRow } from "../store/workflow-row.ts";
import { withValidation } from "../validation/with-validation.ts";
import type { RequireKnown } from "../validation/with-validation.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/** The target of a rollback. */
interface Rollback {
  version: number;
  summary: string | null;
}

/**
 * Makes a new version with the content of another one, the current one included, and keeps the
 * status (D20). An active workflow is deployed before the answer.
 */
export function rollbackWorkflow(
  service: ServiceContext,
): UnaryMethod<RollbackWorkflowRequest, RollbackWorkflowResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const { version } = request;
      const summary = parseChangeSummary(request.changeSummary);
      const key = requireWorkflowKey(request.workflowId, context);
      const { row, from } = await rollBack(service, key, { version, summary }, context);
      service.audit.wake();
      if (row.status === "active") await service.handOver(key, context, row.deployRevision);
      return { workflow: toWorkflowMessage(row), rolledBackFrom: from, rolledBackTo: version };
    },
  });
}

function rollBack(
  { database, audit, checker }: ServiceContext,
  key: WorkflowKey,
  { version, summary }: Rollback,
  context: RpcContext,
): Promise<{ row: WorkflowRow; from: number }> {
  const rollBackOnce = (requireKnown: RequireKnown) =>
    database.transaction(async (transaction) => {
      const current = await lockWorkflow(transaction, key);
      const target = await getRestorableVersion(transaction, key, version);
      requireChangeable(current);
      // The version may be older than a rule. A workflow that nothing can start is validated at its
      // activation.
      const content = contentOf(target);
      if (current.status === "active") {
        const { companyId } = key;
        requireKnown({ companyId, content, mayBeUnfinished: false, toBeDeployed: true });
      }
      const row = await replaceContent(transaction, key, {
        content,
        contentBytes: measureContent(content),
        changeSummary: summary ?? `Rollback to version ${version}`,
        // A version without a canvas leaves the current one, because a removed canvas could not be
        // restored.
        ...(target.canvasStateJson === null ? {} : { canvasStateJson: target.canvasStateJson }),
        newVersion: "always",
      });
      if (row === null) throw new Error("A locked workflow changed its status.");
      await audit.record(transaction, context, {
        action: "workflow.rolled_back",
        resourceType: "workflow",
        resourceId: row.id,
        changes: { ...unchanged({ rolledBackTo: version }), ...workflowChanges(current, row) },
      });
      return { row, from: current.version };
    });
  return withValidation(checker, rollBackOnce);
}
