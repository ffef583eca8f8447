import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { errorJson, runStatusName, stepResultJson } from "./run-json.ts";

export const getRunLogs = route({
  method: "GET",
  path: "/runs/{id}/logs",
  scope: "runs:read",
  bucket: "read",
  summary: "Get what the steps of a run did, in execution order",
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "The step results and the outcome of the run." },
  handler: async ({ runs, call }, { params }) => {
    const run = await runs.getRun({ runId: params.id }, call);
    return {
      status: 200,
      data: {
        runId: run.id,
        workflowId: run.workflowId,
        triggerRuntimeRunId: run.taskRuntimeRunId ?? null,
        status: runStatusName(run.status),
        logs: run.stepResults.map(stepResultJson),
        startedAt: run.startedAt ?? null,
        completedAt: run.completedAt ?? null,
        durationMs: run.durationMs ?? null,
        error: errorJson(run.error),
      },
    };
  },
});
