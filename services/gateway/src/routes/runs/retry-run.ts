import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { restartedRunJson } from "./restarted-run.ts";
import { repeatedRunSchema } from "./run-schema.ts";

export const retryRun = route({
  method: "POST",
  path: "/runs/{id}/retry",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "run.retried",
  summary: "Retry a failed run",
  description: [
    "A new run begins at the first failed step with the input and the version of the original.",
    "What came before is taken over and not done again.",
    "Only runs that are failed or timeout can be retried, else INVALID_STATE.",
    "Each request starts a run; too many pending ones are RATE_LIMITED with `details.limit` `backlog`.",
  ],
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 202: { description: "The new run is accepted.", data: repeatedRunSchema } },
  errors: ["NOT_FOUND", "INVALID_STATE"],
  handler: async ({ runs, call }, { params }) => {
    const restarted = await runs.retryRun({ runId: params.id }, call);
    return { status: 202, data: restartedRunJson(restarted) };
  },
});
