import { isStorableText } from "@workflow/definition";
import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { UpdateWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { workflowChanges } from "../domain/audit-changes.ts";
import {
  badRequest,
  measureContent,
  parseFields,
  parseStored,
  requireExecutable,
} from "../domain/content.ts";
import type { ParsedDefinition, WorkflowContent } from "../domain/content.ts";
import { applyMask } from "../domain/update-mask.ts";
import { lockWorkflow } from "../store/get-workflow.ts";
import { replaceContent } from "../store/replace-content.ts";
import type { WorkflowKey, WorkflowRow } from "../store/workflow-row.ts";
import { requireWorkflowKey } from "./workflow-key.ts";
import { toWorkflowMessage } from "./workflow-message.ts";

const SUMMARY_CHARS_MAX = 10_000;

/** What a request changes, its shape checked. */
interface Change {
  fields: Partial<WorkflowContent>;
  parsed: Partial<ParsedDefinition>;
  summary: string | null;
}

/**
 * Replaces the fields that the mask names. An active workflow gets a new version, which is deployed
 * before the answer; others change in place (D20). An empty mask changes nothing, and is audited like
 * every update that was accepted.
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
      if (row.status === "active" && !isEmpty(change)) await service.handOver(key, context);
      return toWorkflowMessage(row);
    },
  });
}

function parseChange(request: UpdateWorkflowRequest): Change {
  const fields = applyMask(request.updateMask ?? [], request);
  measureContent(fields);
  return { fields, parsed: parseFields(fields), summary: parseSummary(request.changeSummary) };
}

function parseSummary(summary: string | undefined): string | null {
  if (summary === undefined) return null;
  const message = !isStorableText(summary)
    ? "must not contain NUL or unpaired surrogates"
    : summary.length > SUMMARY_CHARS_MAX
      ? `must have at most ${SUMMARY_CHARS_MAX} characters`
      : null;
  if (message === null) return summary;
  throw badRequest([{ path: ["changeSummary"], message }]);
}

/**
 * The whole result is validated, so it has to be known: the row stays locked from reading it to
 * writing it. Updates of one workflow thereby queue up, each one makes exactly one version and no
 * caller has to repeat its own. In between is only computing, no call to anyone.
 */
function update(
  { database, audit }: ServiceContext,
  key: WorkflowKey,
  change: Change,
  context: RpcContext,
): Promise<WorkflowRow> {
  return database.transaction(async (transaction) => {
    const current = requireChangeable(await lockWorkflow(transaction, key));
    const row = await replace(transaction, key, change, current);
    await audit.record(transaction, context, {
      action: "workflow.updated",
      resourceType: "workflow",
      resourceId: row.id,
      changes: workflowChanges(current, row),
    });
    return row;
  });
}

async function replace(
  transaction: Transaction,
  key: WorkflowKey,
  change: Change,
  current: WorkflowRow,
): Promise<WorkflowRow> {
  if (isEmpty(change)) return current;
  const content: WorkflowContent = { ...contentOf(current), ...change.fields };
  const contentBytes = measureContent(content);
  requireExecutable({ ...parseStored(current), ...change.parsed });
  const row = await replaceContent(transaction, key, {
    content,
    contentBytes,
    changeSummary: change.summary,
  });
  if (row === null) throw new Error("A locked workflow changed its status.");
  return row;
}

function isEmpty({ fields }: Change): boolean {
  return Object.keys(fields).length === 0;
}

function requireChangeable(row: WorkflowRow): WorkflowRow {
  if (row.status !== "archived") return row;
  throw new AppError("BAD_REQUEST", "An archived workflow cannot be changed.", {
    details: { currentStatus: row.status },
  });
}

function contentOf(row: WorkflowRow): WorkflowContent {
  const { name, description, triggerJson, stepsJson } = row;
  const { inputSchemaJson, outputSchemaJson, settingsJson } = row;
  return {
    name,
    description,
    triggerJson,
    stepsJson,
    inputSchemaJson,
    outputSchemaJson,
    settingsJson,
  };
}
