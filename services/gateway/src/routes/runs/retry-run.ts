import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { restartedRunJson } from "./restarted-run.ts";

export const retryRun = route({
  method: "POST",
  path: "/runs/{id}/retry",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "run.retried",
  summary: "Start a run that goes on where a failed or timed-out one failed",
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 202: "The new run is accepted." },
  handler: async ({ runs, call }, { params }) => {
    const restarted = await runs.retryRun({ runId: params.id }, call);
    return { status: 202, data: restartedRunJson(restarted) };
  },
});
