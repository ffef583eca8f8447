import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { runStatusName } from "./run-json.ts";
import { cancelledRunSchema } from "./run-schema.ts";

export const cancelRun = route({
  method: "POST",
  path: "/runs/{id}/cancel",
  scope: "workflows:execute",
  bucket: "execute",
  audit: "run.cancelled",
  summary: "Cancel a run",
  description: [
    "The run becomes cancelled at once; a step that is under way is given up, and runs of other workflows that it waits for end too.",
    "What its steps have done outside is not undone.",
    "A run that has ended cannot be cancelled: INVALID_STATE.",
  ],
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The run is cancelled.", data: cancelledRunSchema } },
  errors: ["NOT_FOUND", "INVALID_STATE"],
  handler: async ({ runs, call }, { params }) => {
    const run = await runs.cancelRun({ runId: params.id }, call);
    return {
      status: 200,
      data: { id: run.id, status: runStatusName(run.status), message: "The run was cancelled." },
    };
  },
});
