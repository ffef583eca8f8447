import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { CallToolResult, ListToolsResult, Tool } from "@modelcontextprotocol/server";
import { AppError, isAppError } from "@workflow/errors";
import type { Tool as ToolMessage } from "@workflow/proto/workflows/v1/workflows";
import { z } from "zod";
import { toErrorBody } from "../errors/error-body.ts";
import type { RouteContext } from "../route-context.ts";
import { runWorkflow } from "../routes/workflows/run-workflow.ts";
import { callRoute } from "./call-route.ts";
import { runUri } from "./resources.ts";

/** A page; clients ask for the next one by its cursor. */
const PAGE_TOOLS = 100;
/** How long a call waits for its run; most clients give up after a minute. */
const WAIT_MS = 50_000;

const jsonObject = z.record(z.string(), z.unknown());
/** What the start of a run answers with, as far as it matters here. */
const startedSchema = z.object({
  runId: z.string(),
  status: z.string(),
  output: z.unknown().optional(),
  message: z.string().optional(),
});

/** The active workflows of the caller's company that are offered as tools. */
export async function listTools(
  { workflows, call, identity }: RouteContext,
  cursor = "",
): Promise<ListToolsResult> {
  if (!identity.scopes.includes("workflows:read")) {
    throw new AppError("FORBIDDEN", "The API key lacks the scope workflows:read.");
  }
  const { tools, page } = await workflows.listTools({ page: { limit: PAGE_TOOLS, cursor } }, call);
  return {
    tools: tools.map(toTool),
    ...(page === undefined || page.cursor === "" ? {} : { nextCursor: page.cursor }),
  };
}

function toTool({
  name,
  title,
  description,
  inputSchemaJson,
  outputSchemaJson,
}: ToolMessage): Tool {
  const outputSchema = schemaOf(outputSchemaJson);
  return {
    name,
    title,
    description,
    inputSchema: { ...schemaOf(inputSchemaJson), type: "object" },
    // A result that is no object has no structured form.
    ...(outputSchema?.["type"] === "object"
      ? { outputSchema: { ...outputSchema, type: "object" } }
      : {}),
    // A workflow may do anything, each call starts another run.
    annotations: { readOnlyHint: false, idempotentHint: false },
  };
}

function schemaOf(json: string | undefined): Record<string, unknown> | undefined {
  return json === undefined ? undefined : jsonObject.parse(JSON.parse(json));
}

/**
 * Starts a run of the workflow behind a tool and waits for its end. What the API refuses, or the run fails
 * with, is a result that is marked as an error, for the model to read and to correct itself.
 */
export async function callTool(
  context: RouteContext,
  name: string,
  input: Readonly<Record<string, unknown>>,
): Promise<CallToolResult> {
  const workflowId = await findWorkflow(context, name);
  const inputJson = JSON.stringify(input);
  const value = { input, mode: "sync", maxExecutionTimeMs: WAIT_MS };
  try {
    const { text } = await callRoute(context, runWorkflow, {
      params: { id: workflowId },
      body: { value, members: new Map([["input", inputJson]]) },
    });
    return toResult(text);
  } catch (error) {
    if (!isAppError(error) || error.reason === "INTERNAL_ERROR") throw error;
    const body = toErrorBody(error, context.requestId);
    return { isError: true, content: [{ type: "text", text: JSON.stringify(body) }] };
  }
}

async function findWorkflow(
  { workflows, callWithScope }: RouteContext,
  name: string,
): Promise<string> {
  try {
    // Who may start a workflow may also find it by its name.
    const tool = await workflows.getTool({ name }, callWithScope("workflows:read"));
    return tool.workflowId;
  } catch (error) {
    if (!isAppError(error) || error.reason !== "NOT_FOUND") throw error;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no tool ${JSON.stringify(name)}.`,
    );
  }
}

function toResult(text: string): CallToolResult {
  const { runId, status, output, message } = startedSchema.parse(JSON.parse(text));
  const link = {
    type: "resource_link" as const,
    uri: runUri(runId),
    name: `run ${runId}`,
    mimeType: "application/json",
  };
  if (status !== "completed") {
    const notice = message ?? `The run is ${status} and goes on in the background.`;
    return { content: [{ type: "text", text: notice }, link] };
  }
  const structured = jsonObject.safeParse(output);
  return {
    content: [{ type: "text", text: JSON.stringify(output) }, link],
    ...(structured.success ? { structuredContent: structured.data } : {}),
  };
}
