import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { APPROVAL_STATUSES, approvalJson } from "./approval-json.ts";
import { approvalSchema } from "./approval-schema.ts";
import { namesOf, pageMetaSchema } from "../answer-schemas.ts";

export const listApprovals = route({
  method: "GET",
  path: "/approvals",
  scope: "runs:read",
  bucket: "read",
  summary: "List the approvals of the company",
  description: [
    "The newest approval comes first, of all runs.",
    "`status=waiting` lists what people still have to decide.",
  ],
  params: {},
  query: z.object({
    status: namesOf(APPROVAL_STATUSES).optional().describe("Only approvals of this status."),
    ...pageFields,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of approvals.",
      data: z.array(approvalSchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ approvals, call }, { query }) => {
    const { status, limit, cursor } = query;
    const request = {
      status: status === undefined ? ApprovalStatus.UNSPECIFIED : APPROVAL_STATUSES[status],
      page: { limit, cursor },
    };
    const page = await approvals.listApprovals(request, call);
    return { status: 200, data: page.approvals.map(approvalJson), meta: pageMeta(page.page) };
  },
});
