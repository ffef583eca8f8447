import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { runJson } from "./run-json.ts";

export const getRun = route({
  method: "GET",
  path: "/runs/{id}",
  scope: "runs:read",
  bucket: "read",
  summary: "Get a run",
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "The run with what its steps did." },
  handler: async ({ runs, call }, { params }) => {
    const run = await runs.getRun({ runId: params.id }, call);
    return { status: 200, data: runJson(run) };
  },
});
