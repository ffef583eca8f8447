import type { ListRunStepsResponse } from "@workflow/proto/runs/v1/steps";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { readHeld } from "./held-documents.ts";
import { stepResultJson } from "./run-json.ts";
import { stepResultSchema } from "./run-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

/** D56. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024;
/** A page of 8 MiB, under load. */
const TIMEOUT_MS = 30_000;

export const listRunSteps = route({
  method: "GET",
  path: "/runs/{id}/steps",
  scope: "runs:read",
  bucket: "read",
  summary: "List the step results of a run",
  description: [
    "A page has results in execution order, those of nested steps included.",
    "Their inputs and outputs have 8 MiB together; those beyond are null with `truncated`.",
    "While a run goes on, a page may lack a step that began before its last one and has not ended.",
  ],
  params: { id: "The run's id." },
  query: z.object(pageFields),
  body: NO_BODY,
  responses: {
    200: {
      description:
        "A page of step results, whose inputs and outputs have at most 8 MiB together; later ones are `truncated`.",
      data: z.array(stepResultSchema),
      meta: pageMetaSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async (context, { params, query: page }) => {
    const options = { ...context.call, timeoutMs: TIMEOUT_MS };
    const { answer, onOver } = await readHeld(
      context,
      (bytesMax) => context.runs.listRunSteps({ runId: params.id, page, bytesMax }, options),
      bytesOf,
    );
    const data = answer.results.map(stepResultJson);
    return { status: 200, data, meta: pageMeta(answer.page), onOver };
  },
});

function bytesOf({ results }: ListRunStepsResponse): number | null {
  return results.some(({ truncated }) => truncated) ? PAGE_BYTES_MAX : null;
}
