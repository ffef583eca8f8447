import { z } from "zod";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { placeFields } from "./dashboard-fields.ts";
import { layoutJson } from "./dashboard-json.ts";
import { layoutSchema } from "./dashboard-schema.ts";

export const saveLayout = sessionRoute({
  method: "PUT",
  path: "/dashboards/{id}/layout",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.layout_updated",
  summary: "Save the layout of a dashboard",
  description: [
    "All widgets get their places at once, or none does; gaps close and overlaps are resolved, so take the places of the answer.",
    "A layout that leaves out widgets is refused with CONFLICT and their ids in `details`: load the dashboard again.",
    "A widget of another dashboard, a repeated id or a place off the grid is BAD_REQUEST.",
    "Nothing but places changes.",
  ],
  params: { id: "The dashboard's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      widgets: z
        .array(z.object({ id: z.string().describe("A widget of this dashboard."), ...placeFields }))
        .max(40, "must have at most 40 entries")
        .describe("Every widget of the dashboard, each once.")
        .meta({
          examples: [[{ id: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a", x: 0, y: 0, w: 6, h: 4 }]],
        }),
    }),
  },
  responses: {
    200: {
      description: "Where the widgets lie now: gaps are closed and overlaps resolved.",
      data: layoutSchema,
    },
  },
  errors: ["NOT_FOUND", "CONFLICT"],
  handler: async ({ dashboards, call }, { params, body: { widgets } }) => {
    const request = { dashboardId: params.id, widgets };
    return { status: 200, data: layoutJson(await dashboards.saveDashboardLayout(request, call)) };
  },
});
