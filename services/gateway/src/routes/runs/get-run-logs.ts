import type { Run } from "@workflow/proto/runs/v1/run";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { errorJson, READ_TIMEOUT_MS, runStatusName, runText } from "./run-json.ts";
import { runLogsSchema } from "./run-schema.ts";

export const getRunLogs = route({
  method: "GET",
  path: "/runs/{id}/logs",
  scope: "runs:read",
  bucket: "read",
  summary: "Get the step results of a run",
  description: [
    "The results stand in execution order; a step that was repeated has one, with its earlier attempts in `previousAttempts`.",
    "Inputs and outputs have 8 MiB together; those beyond are null with `truncated`.",
  ],
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description:
        "The step results, truncated as those of the run are, and the outcome of the run.",
      data: runLogsSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ runs, call }, { params }) => {
    const pieces = runs.readRun({ runId: params.id }, { ...call, timeoutMs: READ_TIMEOUT_MS });
    return { longData: runText(pieces, outcomeJson, "logs") };
  },
});

function outcomeJson(run: Run) {
  return {
    runId: run.id,
    workflowId: run.workflowId,
    triggerRuntimeRunId: run.taskRuntimeRunId ?? null,
    status: runStatusName(run.status),
    startedAt: run.startedAt ?? null,
    completedAt: run.completedAt ?? null,
    durationMs: run.durationMs ?? null,
    error: errorJson(run.error),
  };
}
