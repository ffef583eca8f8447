import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { approvalJson } from "./approval-json.ts";
import { z } from "zod";
import { approvalSchema } from "./approval-schema.ts";

export const listRunApprovals = route({
  method: "GET",
  path: "/runs/{id}/approvals",
  scope: "runs:read",
  bucket: "read",
  summary: "List the approvals of a run",
  description: [
    "The approvals stand in the order in which they were asked for, those that were decided included.",
    "A run that asked for none has an empty list.",
  ],
  params: { id: "The run's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "All of them.", data: z.array(approvalSchema) } },
  errors: ["NOT_FOUND"],
  handler: async ({ approvals, call }, { params }) => {
    const list = await approvals.listRunApprovals({ runId: params.id }, call);
    return { status: 200, data: list.approvals.map(approvalJson) };
  },
});
