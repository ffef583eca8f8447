import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { dashboardJson } from "./dashboard-json.ts";
import { dashboardSchema } from "./dashboard-schema.ts";

export const getDashboard = route({
  method: "GET",
  path: "/dashboards/{id}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get a dashboard",
  description: [
    "The answer has its widgets and where they lie on a grid of 12 columns.",
    "What a widget shows is read apart, by its `data`.",
  ],
  params: { id: "The dashboard's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The dashboard.", data: dashboardSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ dashboards, call }, { params }) => {
    const dashboard = await dashboards.getDashboard({ dashboardId: params.id }, call);
    return { status: 200, data: dashboardJson(dashboard) };
  },
});
