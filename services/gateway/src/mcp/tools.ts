import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallToolResult, ListToolsResult, Tool } from "@modelcontextprotocol/server";
import { isAppError } from "@workflow/errors";
import type { AppError, Reason } from "@workflow/errors";
import type { Tool as ToolMessage } from "@workflow/proto/workflows/v1/tools";
import { z } from "zod";
import { toErrorBody } from "../errors/error-body.ts";
import type { RouteContext } from "../route-context.ts";
import { runWorkflow } from "../routes/workflows/run-workflow.ts";
import { callRoute, requireScope } from "./call-route.ts";
import { memberOf } from "./mcp-message.ts";
import { quoted } from "./protocol-error.ts";
import { runUri } from "./resources.ts";

/** The size of a page; clients read the next one by its cursor. */
const PAGE_TOOLS = 100;
/** The time that a call waits for its run; most clients give up after a minute. */
const WAIT_MS = 50_000;

/** Longer outputs are read through the REST API; no model reads them. */
const OUTPUT_CHARS_MAX = 1024 * 1024;

const jsonObject = z.record(z.string(), z.unknown());
/** The part of a started run's answer that is used here. */
const startedSchema = z.object({
  runId: z.string(),
  status: z.string(),
  message: z.string().optional(),
});

/** The arguments of a call, and the receiver of its error. */
interface ToolCall {
  /** The arguments as the text that was sent; undefined without any. */
  readonly json: string | undefined;
  readonly onFailure: (error: AppError) => void;
}

/** The active workflows of the caller's company that are offered as tools. */
export async function listTools(context: RouteContext, cursor = ""): Promise<ListToolsResult> {
  requireScope(context, "workflows:read");
  const { workflows, call } = context;
  const { tools, page } = await workflows.listTools({ page: { limit: PAGE_TOOLS, cursor } }, call);
  return {
    tools: tools.map(toTool),
    ...(page === undefined || page.cursor === "" ? {} : { nextCursor: page.cursor }),
  };
}

/**
 * A tool declares no output schema, even when its workflow has one. With a schema clients would
 * refuse a result without structured content, and with it the link to a run that is not finished.
 */
function toTool({ name, title, description, inputSchemaJson }: ToolMessage): Tool {
  return {
    name,
    title,
    description,
    inputSchema: { ...schemaOf(inputSchemaJson), type: "object" },
    // A workflow may do anything, and each call starts another run.
    annotations: { readOnlyHint: false, idempotentHint: false },
  };
}

function schemaOf(json: string | undefined): Record<string, unknown> | undefined {
  return json === undefined ? undefined : jsonObject.parse(JSON.parse(json));
}

/**
 * Starts a run of a tool's workflow and waits for its end. A refusal of the API, or the run's
 * error, becomes a result that is marked as an error, so that the model can read it and correct its
 * call.
 */
export async function callTool(
  context: RouteContext,
  name: string,
  { json = "{}", onFailure }: ToolCall,
): Promise<CallToolResult> {
  try {
    requireScope(context, "workflows:execute");
    return toResult(await runTool(context, name, json));
  } catch (error) {
    if (!isAppError(error) || OURS.includes(error.reason)) throw error;
    onFailure(error);
    const body = toErrorBody(error, context.requestId);
    return { isError: true, content: [{ type: "text", text: JSON.stringify(body) }] };
  }
}

/** Errors that no model can correct. */
const OURS: readonly Reason[] = ["INTERNAL_ERROR", "UNAUTHORIZED"];

async function runTool(context: RouteContext, name: string, json: string): Promise<string> {
  const workflowId = await findWorkflow(context, name);
  // The idempotency header is ignored: a proxy may put the same key on every request, and all would
  // get the first run's output.
  const { "idempotency-key": _, ...headers } = context.headers;
  const input: unknown = JSON.parse(json);
  const value = { input, mode: "sync", maxExecutionTimeMs: WAIT_MS };
  return callRoute({ ...context, headers }, runWorkflow, {
    params: { id: workflowId },
    body: { value, members: new Map([["input", json]]) },
  });
}

async function findWorkflow(
  { workflows, callWithScope }: RouteContext,
  name: string,
): Promise<string> {
  try {
    // A caller who may start a workflow may also find it by its name.
    const tool = await workflows.getTool({ name }, callWithScope("workflows:read"));
    return tool.workflowId;
  } catch (error) {
    if (!isAppError(error) || error.reason !== "NOT_FOUND") throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${quoted(name)}.`);
  }
}

function toResult(text: string): CallToolResult {
  const { runId, status, message } = startedSchema.parse(JSON.parse(text));
  const link = {
    type: "resource_link" as const,
    uri: runUri(runId),
    name: `run ${runId}`,
    mimeType: "application/json",
  };
  const say = (words: string): CallToolResult => ({
    content: [{ type: "text", text: words }, link],
  });
  if (status !== "completed") {
    return say(message ?? `The run is ${status} and goes on in the background.`);
  }
  const output = memberOf(text, "output") ?? "null";
  if (output.length > OUTPUT_CHARS_MAX) {
    return say(`Run ${runId} has completed. Its output is too long to be shown here.`);
  }
  const structured = jsonObject.safeParse(JSON.parse(output));
  return {
    ...say(output),
    ...(structured.success ? { structuredContent: structured.data } : {}),
  };
}
