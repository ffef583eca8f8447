import { AppError } from "@workflow/errors";
import type { PlannedStep, WorkflowPlan } from "@workflow/proto/workflows/v1/plans";
import { z } from "zod";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import { NO_QUERY, route } from "../../route.ts";
import type { RouteContext } from "../../route-context.ts";
import { jsonObject } from "../fields.ts";
import { workflowPlanSchema } from "./workflow-schema.ts";

/** The same limit as for a run (D4). */
const INPUT_BYTES_MAX = 1024 * 1024;
const BODY_BYTES_MAX = 2 * 1024 * 1024;

export const planWorkflow = route({
  method: "POST",
  path: "/workflows/{id}/plan",
  scope: "workflows:read",
  bucket: "write",
  audit: null,
  summary: "Tell what a run of a workflow would do",
  description: [
    "Nothing runs, and nothing is stored: the answer says what is wrong, what is missing, and what each step would get.",
    "Templates are resolved as far as the given `input` goes; outputs of steps stay templates, and secrets are never resolved.",
    "Of one company two plans are made at a time in a process and 32 may wait; beyond that it is RATE_LIMITED.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      input: jsonObject
        .optional()
        .describe("What a run would be given, at most 1 MiB; an empty object by default.")
        .meta({ examples: [{ name: "Ada" }] }),
    }),
    optional: true,
    bytesMax: BODY_BYTES_MAX,
  },
  responses: {
    200: {
      description: "The plan; what is wrong is in problems and missing.",
      data: workflowPlanSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async (context, { params, rawJson }) => {
    const inputJson = rawJson("input");
    if (inputJson !== undefined && Buffer.byteLength(inputJson) > INPUT_BYTES_MAX) {
      throw new AppError("PAYLOAD_TOO_LARGE", `input must be at most ${INPUT_BYTES_MAX} bytes.`);
    }
    const { workflows, call } = context;
    const plan = await workflows.planWorkflow({ workflowId: params.id, inputJson }, call);
    return {
      status: 200,
      data: {
        valid: plan.valid,
        problems: plan.problems.map(({ path, message }) => ({ path, message })),
        steps: plan.steps.map(stepJson),
        missing: {
          secrets: await findMissingSecrets(context, params.id, plan.secretKeys),
          ...(await findMissingConnections(context, plan)),
          agents: await findMissingAgents(context, plan.agentIds),
        },
        nextRunAt: plan.nextRunAt.length === 0 ? undefined : plan.nextRunAt,
      },
    };
  },
});

function stepJson({ id, path, type, action, resolvedConfigJson }: PlannedStep): Writable {
  return { id, path, type, action, resolvedConfig: rawOrNull(resolvedConfigJson) };
}

/** The secret keys that the workflow names and does not have. */
async function findMissingSecrets(
  { secrets, callWithScope }: RouteContext,
  workflowId: string,
  keys: readonly string[],
): Promise<string[]> {
  if (keys.length === 0) return [];
  const stored = await secrets.listSecrets({ workflowId }, callWithScope("secrets:read"));
  const known = new Set(stored.secrets.map(({ key }) => key));
  return keys.filter((key) => !known.has(key));
}

/** The agents that steps name and that do not exist or are deprecated. */
async function findMissingAgents(
  { agents, callWithScope }: RouteContext,
  agentIds: readonly string[],
): Promise<string[]> {
  if (agentIds.length === 0) return [];
  // One call may name as many agents as a workflow has steps.
  const answer = await agents.checkAgents(
    { agentIds: [...agentIds] },
    callWithScope("workflows:read"),
  );
  return answer.missingAgentIds;
}

/** The number of ids in one call. */
const QUESTION_MAX = 100;

/** The connections that a run needs and that are missing. */
interface MissingConnections {
  /** Providers without the active connection that a step or the trigger needs. */
  connections: string[];
  /** Connections that steps name and that do not exist or are not active. */
  connectionIds: string[];
  /**
   * Providers with several active connections of which neither a step nor, so far, the run names
   * one.
   */
  choices: string[];
}

async function findMissingConnections(
  { actions, callWithScope }: RouteContext,
  { connectionProviders, namedConnections, choosingProviders }: WorkflowPlan,
): Promise<MissingConnections> {
  const named = [...new Set(namedConnections.map(({ connectionId }) => connectionId))].toSorted();
  const missing = { connections: new Set<string>(), connectionIds: new Set<string>() };
  const ambiguous = new Set<string>();
  const count = Math.max(connectionProviders.length, named.length);
  for (let start = 0; start < count; start += QUESTION_MAX) {
    const request = {
      providers: connectionProviders.slice(start, start + QUESTION_MAX),
      connectionIds: named.slice(start, start + QUESTION_MAX),
    };
    const answer = await actions.checkConnections(request, callWithScope("workflows:read"));
    for (const provider of answer.missingProviders) missing.connections.add(provider);
    for (const provider of answer.ambiguousProviders) ambiguous.add(provider);
    for (const id of answer.missingConnectionIds) missing.connectionIds.add(id);
  }
  for (const { connectionId, provider } of namedConnections) {
    if (provider !== undefined && missing.connectionIds.has(connectionId)) {
      missing.connections.add(provider);
    }
  }
  return {
    connections: [...missing.connections].toSorted(),
    connectionIds: [...missing.connectionIds],
    choices: choosingProviders.filter((provider) => ambiguous.has(provider)),
  };
}
