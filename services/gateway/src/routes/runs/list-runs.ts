import { isUuid } from "@workflow/db";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageMeta } from "../page-meta.ts";
import { runFilters, toListRunsRequest } from "./run-filters.ts";
import { runListItemJson } from "./run-json.ts";
import { runListItemSchema } from "./run-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

export const listRuns = route({
  method: "GET",
  path: "/runs",
  scope: "runs:read",
  bucket: "read",
  summary: "List runs",
  description: [
    "The runs of all workflows of the company, the newest first, without input, output and step results.",
    "`status=active` stands for pending, running and waiting_approval.",
    "All given filters have to match.",
  ],
  params: {},
  query: runFilters.extend({
    workflowId: z.string().optional().describe("Only runs of this workflow."),
  }),
  body: NO_BODY,
  responses: {
    200: { description: "A page of runs.", data: z.array(runListItemSchema), meta: pageMetaSchema },
  },
  handler: async ({ runs, call }, { query }) => {
    const { workflowId = "" } = query;
    if (query.workflowId !== undefined && !isUuid(workflowId)) {
      // No workflow has such an id, so none of its runs exist (D1).
      return { status: 200, data: [], meta: pageMeta(undefined) };
    }
    const page = await runs.listRuns(toListRunsRequest(workflowId, query), call);
    return { status: 200, data: page.runs.map(runListItemJson), meta: pageMeta(page.page) };
  },
});
