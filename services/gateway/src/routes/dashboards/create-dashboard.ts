import { z } from "zod";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { dashboardJson } from "./dashboard-json.ts";
import { dashboardDescription, dashboardName } from "./dashboard-fields.ts";
import { dashboardSchema } from "./dashboard-schema.ts";

export const createDashboard = sessionRoute({
  method: "POST",
  path: "/dashboards",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.created",
  summary: "Create a dashboard",
  description: [
    "The dashboard is empty and belongs to the person who is signed in.",
    "Only that person may change it.",
  ],
  params: {},
  query: NO_QUERY,
  body: { schema: z.object({ name: dashboardName, description: dashboardDescription }) },
  responses: { 201: { description: "The dashboard.", data: dashboardSchema } },
  handler: async ({ dashboards, call }, { body: { name, description } }) => {
    const request = { name, description: description ?? "" };
    return { status: 201, data: dashboardJson(await dashboards.createDashboard(request, call)) };
  },
});
