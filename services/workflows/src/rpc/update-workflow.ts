import type { Transaction } from "@workflow/db";
import type {
  EtagCondition,
  UpdateWorkflowRequest,
  Workflow,
} from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { workflowChanges } from "../domain/audit-changes.ts";
import { parseChangeSummary } from "../domain/change-summary.ts";
import { checkFields, contentOf, measureContent } from "../domain/content.ts";
import type { CheckedFields, WorkflowContent } from "../domain/content.ts";
import { requireMatch } from "../domain/etag.ts";
import { requireChangeable } from "../domain/status.ts";
import { applyMask } from "../domain/update-mask.ts";
import { lockWorkflow } from "../store/get-workflow.ts";
import { replaceContent } from "../store/replace-content.ts";
import type { WorkflowKey, WorkflowRow } from "../store/workflow-row.ts";
import { withValidation } from "../validation/with-validation.ts";
import type { RequireKnown } from "../validation/with-validation.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

/** The changes of a request, with a valid shape. */
interface Change extends CheckedFields {
  summary: string | null;
  ifMatch: EtagCondition | undefined;
}

/**
 * Replaces the fields that the mask names. An active workflow gets a new version, whatever the
 * update names, and the version is deployed before the answer. Other workflows change in place
 * (D20); an update without fields leaves them unchanged.
 */
export function updateWorkflow(
  service: ServiceContext,
): UnaryMethod<UpdateWorkflowRequest, Workflow> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const change = parseChange(request);
      const key = requireWorkflowKey(request.workflowId, context);
      const row = await update(service, key, change, context);
      service.audit.wake();
      if (row.status === "active") await service.handOver(key, context, row.deployRevision);
      return toWorkflowMessage(row);
    },
  });
}

function parseChange(request: UpdateWorkflowRequest): Change {
  return {
    ...checkFields(applyMask(request.updateMask ?? [], request)),
    summary: parseChangeSummary(request.changeSummary),
    ifMatch: request.ifMatch,
  };
}

/**
 * The whole result is validated, so the row stays locked from the read to the write. Updates of one
 * workflow queue up, each makes exactly one version, and no caller has to repeat. A new result is
 * validated without the lock first.
 */
function update(
  { database, audit, checker }: ServiceContext,
  key: WorkflowKey,
  change: Change,
  context: RpcContext,
): Promise<WorkflowRow> {
  const updateOnce = (requireKnown: RequireKnown) =>
    database.transaction(async (transaction) => {
      const current = await lockWorkflow(transaction, key);
      requireChangeable(current);
      requireMatch(change.ifMatch, current);
      if (current.status !== "active" && isEmpty(change)) return current;
      const row = await replace(transaction, key, { change, current }, requireKnown);
      await audit.record(transaction, context, {
        action: "workflow.updated",
        resourceType: "workflow",
        resourceId: row.id,
        changes: workflowChanges(current, row),
      });
      return row;
    });
  return withValidation(checker, updateOnce);
}

async function replace(
  transaction: Transaction,
  key: WorkflowKey,
  { change, current }: { change: Change; current: WorkflowRow },
  requireKnown: RequireKnown,
): Promise<WorkflowRow> {
  const content: WorkflowContent = { ...contentOf(current), ...change.fields };
  const contentBytes = measureContent(content);
  // A draft may be renamed while it is incomplete; steps in an update must be complete.
  const mayBeUnfinished = current.status !== "active" && change.parsed.steps === undefined;
  const toBeDeployed = current.status === "active";
  requireKnown({ companyId: key.companyId, content, mayBeUnfinished, toBeDeployed });
  const row = await replaceContent(transaction, key, {
    content,
    contentBytes,
    changeSummary: change.summary,
    newVersion: "active",
  });
  if (row === null) throw new Error("A locked workflow changed its status.");
  return row;
}

function isEmpty({ fields, summary }: Change): boolean {
  return Object.keys(fields).length === 0 && summary === null;
}
