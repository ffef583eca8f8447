import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { restartedRunJson } from "./restarted-run.ts";
import { repeatedRunSchema } from "./run-schema.ts";

export const retryRun = route({
  method: "POST",
  path: "/runs/{id}/retry",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "run.retried",
  summary: "Start a run that goes on where a failed or timed-out one failed",
  description:
    "The new run has the input and the version of the original, takes over what came before the first failed step, and begins there. Allowed for runs that are failed or timeout.",
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
