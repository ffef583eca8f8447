import { z } from "zod";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { gridNumber, layoutJson } from "./dashboard-json.ts";

export const saveLayout = sessionRoute({
  method: "PUT",
  path: "/dashboards/{id}/layout",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.layout_updated",
  summary: "Save where all widgets of a dashboard lie, or none",
  params: { id: "The dashboard's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      widgets: z
        .array(
          z.object({
            id: z.string(),
            x: gridNumber,
            y: gridNumber,
            w: gridNumber,
            h: gridNumber,
          }),
        )
        .max(40, "must have at most 40 entries"),
    }),
  },
  responses: { 200: "Where the widgets lie now: gaps are closed and overlaps resolved." },
  handler: async ({ dashboards, call }, { params, body: { widgets } }) => {
    const request = { dashboardId: params.id, widgets };
    return { status: 200, data: layoutJson(await dashboards.saveDashboardLayout(request, call)) };
  },
});
