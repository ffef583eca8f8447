import type { StepResult } from "@workflow/proto/runs/v1/steps";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { readHeld } from "./held-documents.ts";
import { stepResultJson } from "./run-json.ts";
import { stepResultSchema } from "./run-schema.ts";

/** An input and an output of 4 MiB each, under load. */
const TIMEOUT_MS = 30_000;

export const getRunStep = route({
  method: "GET",
  path: "/runs/{id}/steps/{path}",
  scope: "runs:read",
  bucket: "read",
  summary: "Get the result of one step of a run",
  description: [
    "Input and output are whole, however large.",
    "`path` names nested steps from the top down, such as `loop1[2].child`.",
    "A step without a result is NOT_FOUND.",
  ],
  params: {
    id: "The run's id.",
    path: "The step's path, percent-encoded, such as `loop1%5B2%5D.child`.",
  },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The step result, never truncated.", data: stepResultSchema } },
  errors: ["NOT_FOUND"],
  handler: async (context, { params }) => {
    const options = { ...context.call, timeoutMs: TIMEOUT_MS };
    const { answer, onOver } = await readHeld(
      context,
      (bytesMax) =>
        context.runs.getRunStep({ runId: params.id, path: params.path, bytesMax }, options),
      bytesOf,
    );
    return { status: 200, data: stepResultJson(answer), onOver };
  },
});

function bytesOf({ truncated, inputBytes = 0, outputBytes = 0 }: StepResult): number | null {
  return truncated ? inputBytes + outputBytes : null;
}
