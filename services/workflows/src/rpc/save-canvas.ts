import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type {
  Canvas,
  EtagCondition,
  SaveCanvasRequest,
} from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { unsupportedModelsOfBlocks, unsupportedModelsOfSteps } from "../domain/agent-models.ts";
import type { AgentModels } from "../domain/agent-models.ts";
import { workflowChanges } from "../domain/audit-changes.ts";
import { badCanvas, checkCanvasState } from "../domain/canvas-state.ts";
import { checkFields, contentOf, invalidDefinition, measureContent } from "../domain/content.ts";
import type { CheckedFields, WorkflowContent } from "../domain/content.ts";
import { requireMatch } from "../domain/etag.ts";
import { requireChangeable } from "../domain/status.ts";
import { getWorkflow, lockWorkflow } from "../store/get-workflow.ts";
import { replaceContent } from "../store/replace-content.ts";
import { saveCanvas as saveCanvasAlone } from "../store/save-canvas.ts";
import type { WorkflowKey, WorkflowRow } from "../store/workflow-row.ts";
import { withValidation } from "../validation/with-validation.ts";
import type { RequireKnown } from "../validation/with-validation.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toCanvasMessage } from "./workflow-message.ts";

/** The content of a save, with a valid shape. */
interface Save extends CheckedFields {
  canvasStateJson: string;
  ifMatch: EtagCondition | undefined;
}

/** Stores the state of the visual editor and, where given, steps and trigger (D20). */
export function saveCanvas(service: ServiceContext): UnaryMethod<SaveCanvasRequest, Canvas> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const save = parseSave(request, service.agentModels);
      const key = requireWorkflowKey(request.workflowId, context);
      const row = await saveInTransaction(service, key, save, context);
      service.audit.wake();
      if (row.status === "active" && changesDefinition(save))
        await service.handOver(key, context, row.deployRevision);
      const { updatedAt: savedAt } = row;
      const { canvasStateJson: stateJson } = save;
      return toCanvasMessage(row, { stateJson, savedAt, modifiedAt: savedAt });
    },
  });
}

function parseSave(request: SaveCanvasRequest, models: AgentModels): Save {
  const { stepsJson, triggerJson } = request;
  const canvas = checkCanvasState(request.canvasStateJson);
  const ofBlocks = unsupportedModelsOfBlocks(canvas.blocks, models);
  if (ofBlocks.length > 0) throw badCanvas(ofBlocks);
  const given = {
    ...(stepsJson === undefined ? {} : { stepsJson }),
    ...(triggerJson === undefined ? {} : { triggerJson }),
  };
  const { fields, parsed } = checkFields(given, "triggerConfig");
  const ofSteps = unsupportedModelsOfSteps(parsed.steps, models);
  if (ofSteps.length > 0) throw invalidDefinition(ofSteps);
  return { canvasStateJson: canvas.text, fields, parsed, ifMatch: request.ifMatch };
}

/**
 * A save with steps replaces what the editor has loaded. The state at the request's arrival must
 * therefore still hold when the lock is acquired. Other saves queue up at the lock, as updates do.
 */
async function saveInTransaction(
  { database, audit, checker }: ServiceContext,
  key: WorkflowKey,
  save: Save,
  context: RpcContext,
): Promise<WorkflowRow> {
  const seen = save.fields.stepsJson === undefined ? null : await getWorkflow(database, key);
  const saveOnce = (requireKnown: RequireKnown) =>
    database.transaction(async (transaction) => {
      const current = await lockWorkflow(transaction, key);
      requireChangeable(current);
      requireMatch(save.ifMatch, current);
      if (seen !== null) requireUnchanged(seen, current);
      const row = await write(transaction, key, { save, current }, requireKnown);
      await audit.record(transaction, context, {
        action: "workflow.canvas_saved",
        resourceType: "workflow",
        resourceId: row.id,
        changes: { canvas: { changed: true }, ...workflowChanges(current, row) },
      });
      return row;
    });
  return withValidation(checker, saveOnce);
}

function requireUnchanged(seen: WorkflowRow, current: WorkflowRow): void {
  const isUnchanged =
    seen.status === current.status &&
    seen.version === current.version &&
    seen.stepsJson === current.stepsJson;
  if (isUnchanged) return;
  throw new AppError(
    "CONFLICT",
    "The workflow changed while it was being saved. Reload it, reconcile, and save again.",
  );
}

async function write(
  transaction: Transaction,
  key: WorkflowKey,
  { save, current }: { save: Save; current: WorkflowRow },
  requireKnown: RequireKnown,
): Promise<WorkflowRow> {
  const { canvasStateJson, fields } = save;
  let row: WorkflowRow | null;
  if (changesDefinition(save)) {
    const content: WorkflowContent = { ...contentOf(current), ...fields };
    const contentBytes = measureContent(content);
    const triggerName = fields.triggerJson === undefined ? "trigger" : "triggerConfig";
    const toBeDeployed = current.status === "active";
    const mayBeUnfinished = !toBeDeployed;
    requireKnown({ companyId: key.companyId, content, mayBeUnfinished, toBeDeployed }, triggerName);
    row = await replaceContent(transaction, key, {
      content,
      contentBytes,
      changeSummary: null,
      canvasStateJson,
      newVersion: "active",
    });
  } else {
    row = await saveCanvasAlone(transaction, key, canvasStateJson);
  }
  if (row === null) throw new Error("A locked workflow changed its status.");
  return row;
}

function changesDefinition({ fields }: Save): boolean {
  return Object.keys(fields).length > 0;
}
