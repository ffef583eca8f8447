import { findProvider } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import type { PlannedStep } from "@workflow/proto/workflows/v1/workflows";
import { z } from "zod";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import { NO_QUERY, route } from "../../route.ts";
import type { RouteContext } from "../../route.ts";
import { jsonObject } from "../fields.ts";

/** As for a run (D4). */
const INPUT_BYTES_MAX = 1024 * 1024;
const BODY_BYTES_MAX = 2 * 1024 * 1024;

export const planWorkflow = route({
  method: "POST",
  path: "/workflows/{id}/plan",
  scope: "workflows:read",
  bucket: "write",
  audit: null,
  summary: "Tell what a run of a workflow would do, without doing it",
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({ input: jsonObject.optional() }),
    optional: true,
    bytesMax: BODY_BYTES_MAX,
  },
  responses: { 200: "The plan; what is wrong is in problems and missing." },
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
          connections: await findMissingConnections(context, plan.connectionProviders),
        },
        nextRunAt: plan.nextRunAt.length === 0 ? undefined : plan.nextRunAt,
      },
    };
  },
});

function stepJson({ id, path, type, action, resolvedConfigJson }: PlannedStep): Writable {
  return { id, path, type, action, resolvedConfig: rawOrNull(resolvedConfigJson) };
}

/** The keys that the workflow names and that no secret of it has. */
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

/** What one question may name. */
const QUESTION_MAX = 1_000;

/** Providers without an active connection, and connections that are not there or not active. */
async function findMissingConnections(
  { actions, callWithScope }: RouteContext,
  needed: readonly string[],
): Promise<string[]> {
  const missing = new Set<string>();
  for (let start = 0; start < needed.length; start += QUESTION_MAX) {
    const part = needed.slice(start, start + QUESTION_MAX);
    const request = {
      providers: part.filter((name) => findProvider(name) !== undefined),
      connectionIds: part.filter((name) => findProvider(name) === undefined),
    };
    const answer = await actions.checkConnections(request, callWithScope("workflows:read"));
    for (const name of [...answer.missingProviders, ...answer.missingConnectionIds]) {
      missing.add(name);
    }
  }
  return needed.filter((name) => missing.has(name));
}
