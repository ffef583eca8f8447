import { BulkAction } from "@workflow/proto/runs/v1/runs";
import type { BulkRunsResult } from "@workflow/proto/runs/v1/runs";
import { isUuid } from "@workflow/db";
import { z } from "zod";
import type { Writable } from "../../http/write-json.ts";
import { NO_QUERY, route } from "../../route.ts";
import { filterFields, toRunFilter } from "./run-filters.ts";
import { bulkResultSchema } from "./run-schema.ts";

/** The number of runs in one request (D32). */
const RUNS_MAX = 500;
/** Runs are cancelled one by one, which takes time for hundreds. */
const TIMEOUT_MS = 60_000;
const ACTIONS = { cancel: BulkAction.CANCEL, retry: BulkAction.RETRY } as const;

const message = `must have 1 to ${RUNS_MAX} entries`;

export const bulkRuns = route({
  method: "POST",
  path: "/runs/bulk",
  scope: "workflows:execute",
  bucket: "execute",
  audit: ["run.cancelled", "run.retried"],
  summary: "Cancel or retry many runs",
  description: [
    "The runs are named, or they are the newest 500 that a filter finds and with which it can be done.",
    "Each run is judged on its own: `results` has an entry for each, and an error where it could not be done.",
    "So the answer is 200 even when none was changed.",
    "The request counts once, however many runs it names.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        action: z.enum(["cancel", "retry"]).describe("What to do with each."),
        runIds: z
          .array(z.string())
          .min(1, message)
          .max(RUNS_MAX, message)
          .optional()
          .describe("Which runs; a repeated id counts once.")
          .meta({ examples: [["run_01kg9d1kzcexw9f1c3f4r7m2qa"]] }),
        // Strict, because without a misspelt filter all runs of the company would match.
        filter: z
          .looseObject({})
          .refine((filter) => Object.keys(filter).length > 0, {
            error: "must have at least one field",
          })
          .pipe(
            z.strictObject({
              ...filterFields,
              workflowId: z.string().optional().describe("Only runs of this workflow."),
            }),
          )
          .optional()
          .describe(
            "The newest 500 of these runs with which it can be done; in place of runIds, and with a field at least.",
          )
          .meta({ examples: [{ status: "failed" }] }),
      })
      .refine(
        ({ runIds, filter }) => (runIds === undefined) !== (filter === undefined),
        "must have exactly one of runIds and filter",
      )
      .meta({
        id: "BulkRuns",
        description: "Many runs, named or found, and what to do with each.",
        examples: [{ action: "cancel", runIds: ["run_01kg9d1kzcexw9f1c3f4r7m2qa"] }],
        oneOf: [
          { properties: { runIds: {} }, required: ["runIds"] },
          { properties: { filter: {} }, required: ["filter"] },
        ],
      }),
  },
  responses: {
    200: {
      description: "What became of each run.",
      data: z.strictObject({ results: z.array(bulkResultSchema) }),
    },
  },
  handler: async ({ runs, call }, { body }) => {
    const { action, runIds = [], filter } = body;
    if (filter?.workflowId !== undefined && !isUuid(filter.workflowId)) {
      // No workflow has such an id, so it has no runs (D1).
      return { status: 200, data: { results: [] } };
    }
    const request = {
      action: ACTIONS[action],
      runIds,
      filter: filter === undefined ? undefined : toRunFilter(filter.workflowId ?? "", filter),
    };
    const { results } = await runs.bulkRuns(request, { ...call, timeoutMs: TIMEOUT_MS });
    return { status: 200, data: { results: results.map(resultJson) } };
  },
});

function resultJson({ runId, newRunId, failure }: BulkRunsResult): Writable {
  if (failure === undefined) return { runId, success: true, newRunId };
  return { runId, success: false, error: { code: failure.reason, message: failure.message } };
}
