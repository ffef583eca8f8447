import { z } from "zod";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { dashboardJson } from "./dashboard-json.ts";
import { dashboardDescription, dashboardName } from "./dashboard-fields.ts";
import { dashboardSchema } from "./dashboard-schema.ts";

export const updateDashboard = sessionRoute({
  method: "PATCH",
  path: "/dashboards/{id}",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.updated",
  summary: "Change a dashboard",
  description: [
    "Name and description change where they are given; null clears the description.",
    "Only the owner may: for others it is NOT_FOUND.",
  ],
  params: { id: "The dashboard's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({ name: dashboardName.optional(), description: dashboardDescription }),
  },
  responses: { 200: { description: "The dashboard.", data: dashboardSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ dashboards, call }, { params, body: { name, description } }) => {
    const request = {
      dashboardId: params.id,
      name,
      description: description === null ? "" : description,
    };
    return { status: 200, data: dashboardJson(await dashboards.updateDashboard(request, call)) };
  },
});
