import { NO_BODY, route } from "../../route.ts";
import { pageMeta } from "../page-meta.ts";
import { runFilters, toListRunsRequest } from "../runs/run-filters.ts";
import { runListItemJson } from "../runs/run-json.ts";
import { z } from "zod";
import { runListItemSchema } from "../runs/run-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

export const listWorkflowRuns = route({
  method: "GET",
  path: "/workflows/{id}/runs",
  scope: "runs:read",
  bucket: "read",
  summary: "List the runs of a workflow",
  description: [
    "The newest run comes first, without input, output and step results.",
    "`status=active` stands for pending, running and waiting_approval.",
    "All given filters have to match.",
  ],
  params: { id: "The workflow's id." },
  query: runFilters,
  body: NO_BODY,
  responses: {
    200: { description: "A page of runs.", data: z.array(runListItemSchema), meta: pageMetaSchema },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ workflows, runs, call, callWithScope }, { params, query }) => {
    // The list does not distinguish a workflow without runs from one that does not exist.
    const [page, workflow] = await Promise.allSettled([
      runs.listRuns(toListRunsRequest(params.id, query), call),
      workflows.getWorkflow({ workflowId: params.id }, callWithScope("workflows:read")),
    ]);
    // A bad cursor is a 400, which precedes a 404 (D2).
    if (page.status === "rejected") throw page.reason;
    if (workflow.status === "rejected") throw workflow.reason;
    const { runs: items, page: info } = page.value;
    return { status: 200, data: items.map(runListItemJson), meta: pageMeta(info) };
  },
});
