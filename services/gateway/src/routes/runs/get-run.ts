import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { READ_TIMEOUT_MS, runJson, runText } from "./run-json.ts";
import { runSchema } from "./run-schema.ts";

export const getRun = route({
  method: "GET",
  path: "/runs/{id}",
  scope: "runs:read",
  bucket: "read",
  summary: "Get a run",
  description: [
    "The answer has the run's input and output, and the results of its steps in execution order.",
    "Inputs and outputs of steps have 8 MiB together; those beyond are null with `truncated`, and GET /runs/{id}/steps/{path} has them whole.",
    "A run that goes on may be asked for again with `If-None-Match`, or followed with GET /runs/{id}/events.",
    "Who reads many large runs at once waits up to ten seconds, then it is RATE_LIMITED with `details.limit` `reading`.",
  ],
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description:
        "The run with what its steps did: their inputs and outputs up to 8 MiB together, in execution order; later ones are `truncated` and whole at `/runs/{id}/steps/{path}`.",
      data: runSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ runs, call }, { params }) => {
    const pieces = runs.readRun({ runId: params.id }, { ...call, timeoutMs: READ_TIMEOUT_MS });
    return { longData: runText(pieces, runJson, "stepResults") };
  },
});
