import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { dashboardSummaryJson } from "./dashboard-json.ts";
import { dashboardSummarySchema } from "./dashboard-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

export const listDashboards = route({
  method: "GET",
  path: "/dashboards",
  scope: "workflows:read",
  bucket: "read",
  summary: "List dashboards",
  description: [
    "The newest dashboard comes first, of all people of the company, without widgets.",
    "Who owns it may change it; everybody with the scope may read it.",
  ],
  params: {},
  query: z.object(pageFields),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of dashboards.",
      data: z.array(dashboardSummarySchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ dashboards, call }, { query }) => {
    const answer = await dashboards.listDashboards({ page: query }, call);
    const data = answer.dashboards.map(dashboardSummaryJson);
    return { status: 200, data, meta: pageMeta(answer.page) };
  },
});
