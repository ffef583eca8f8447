import { isUuid } from "@workflow/db";
import { triggerSchema, validateInTurns } from "@workflow/definition";
import type { CompiledTrigger } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { parseJsonText } from "@workflow/json";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import type {
  DeploymentContent as ContentMessage,
  PutDeploymentRequest,
  PutDeploymentResponse,
} from "@workflow/proto/runs/v1/deployments";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { triggerKeyOf } from "../domain/trigger-key.ts";
import { syncSchedule } from "../schedules/sync-schedule.ts";
import { putDeployment as putState } from "../store/deployments.ts";
import type { DeploymentContent, DeploymentState } from "../store/deployments.ts";

/** Stores a workflow's newest executable state. */
export function putDeployment({
  database,
  now,
}: ServiceContext): UnaryMethod<PutDeploymentRequest, PutDeploymentResponse> {
  return rpc({
    scopes: "internal:deployments",
    async handler(request, { identity }) {
      const { state, trigger } = await parseState(request, identity.companyId);
      return database.transaction(async (transaction) => {
        const { revision, isNewer } = await putState(transaction, state);
        if (isNewer) await syncSchedule(transaction, { ...state, trigger }, now());
        return { revision };
      });
    },
  });
}

interface ParsedRequest {
  state: DeploymentState;
  /** Null when the request has no content. */
  trigger: CompiledTrigger | null;
}

async function parseState(
  request: PutDeploymentRequest,
  companyId: string,
): Promise<ParsedRequest> {
  if (!isUuid(request.workflowId)) throw badRequest([violation("workflow_id", "must be a UUID")]);
  if (request.revision < 1) throw badRequest([violation("revision", "must be 1 or more")]);
  const status = parseStatus(request.status);
  if (status === "active" && request.content === undefined) {
    throw badRequest([violation("content", "is required when the status is active")]);
  }
  const parsed = request.content === undefined ? null : await parseContent(request.content);
  return {
    state: {
      companyId,
      workflowId: request.workflowId,
      revision: request.revision,
      status,
      content: parsed?.content ?? null,
      triggerKey: parsed === null ? null : triggerKeyOf(parsed.trigger),
    },
    trigger: parsed?.trigger ?? null,
  };
}

function parseStatus(status: DeploymentStatus): DeploymentState["status"] {
  switch (status) {
    case DeploymentStatus.ACTIVE:
      return "active";
    case DeploymentStatus.PAUSED:
      return "paused";
    case DeploymentStatus.ARCHIVED:
      return "archived";
    case DeploymentStatus.UNSPECIFIED:
    case DeploymentStatus.UNRECOGNIZED:
    default:
      throw badRequest([violation("status", "must be active, paused or archived")]);
  }
}

/**
 * Refuses content that could not be executed, so that no run fails by it. The syntax of expressions was
 * checked by the workflows service, in a process that may take its time. An expression that is wrong
 * nevertheless fails its own step.
 */
export async function parseContent(content: ContentMessage): Promise<{
  content: DeploymentContent;
  trigger: CompiledTrigger;
}> {
  const violations: Violation[] = [];
  const parse = (field: string, text: string | undefined, kind: "object" | "array"): unknown => {
    if (text === undefined || text === "null") return undefined;
    const parsed = parseJsonText(text, kind);
    if (parsed.ok) return parsed.value;
    violations.push(violation(field, parsed.message));
    return undefined;
  };
  const settings = parse("settings_json", content.settingsJson, "object");
  const definition = {
    trigger: parse("trigger_json", content.triggerJson, "object"),
    steps: parse("steps_json", content.stepsJson, "array"),
    inputSchema: parse("input_schema_json", content.inputSchemaJson, "object"),
    outputSchema: parse("output_schema_json", content.outputSchemaJson, "object"),
    settings,
  };
  if (violations.length > 0) throw badRequest(violations);
  const validated = await validateInTurns(definition);
  if (!validated.ok) throw badRequest(validated.violations);
  return {
    content: {
      name: content.name,
      version: content.version,
      trigger: content.triggerJson,
      steps: content.stepsJson,
      inputSchema: content.inputSchemaJson ?? null,
      outputSchema: content.outputSchemaJson ?? null,
      settings: content.settingsJson ?? null,
      tags: validated.definition.settings?.tags ?? [],
    },
    trigger: triggerSchema.parse(validated.definition.trigger),
  };
}

function violation(field: string, message: string): Violation {
  return { path: ["content", field], message };
}

function badRequest(violations: readonly Violation[]): AppError {
  return new AppError("BAD_REQUEST", "The deployment cannot be executed.", { violations });
}
