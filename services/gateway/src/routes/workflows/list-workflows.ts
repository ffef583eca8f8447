import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { namesOf, pageMetaSchema } from "../answer-schemas.ts";
import { pageFields } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { WORKFLOW_STATUSES, workflowJson } from "./workflow-json.ts";
import { workflowSchema } from "./workflow-schema.ts";

export const listWorkflows = route({
  method: "GET",
  path: "/workflows",
  scope: "workflows:read",
  bucket: "read",
  summary: "List workflows",
  description: [
    "The newest workflow comes first, each with its steps.",
    "Archived ones stand in the list only with `status=archived`.",
    "`search` finds a part of the name.",
  ],
  params: {},
  query: z.object({
    status: namesOf(WORKFLOW_STATUSES)
      .optional()
      .describe("Only workflows of this status; without it all but archived ones."),
    search: z
      .string()
      .max(255, "must have at most 255 characters")
      .default("")
      .describe("A part of the name, whatever its case.")
      .meta({ examples: ["greet"] }),
    ...pageFields,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of workflows.",
      data: z.array(workflowSchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ workflows, call }, { query }) => {
    const { status, search, limit, cursor } = query;
    const page = await workflows.listWorkflows(
      {
        status: status === undefined ? WorkflowStatus.UNSPECIFIED : WORKFLOW_STATUSES[status],
        search,
        page: { limit, cursor },
      },
      call,
    );
    return { status: 200, data: page.workflows.map(workflowJson), meta: pageMeta(page.page) };
  },
});
