import { NO_BODY, NO_QUERY, sessionRoute } from "../../route.ts";
import { layoutJson } from "./dashboard-json.ts";
import { removedWidgetSchema } from "./dashboard-schema.ts";

export const deleteWidget = sessionRoute({
  method: "DELETE",
  path: "/dashboards/{id}/widgets/{widgetId}",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.widget_removed",
  summary: "Remove a widget",
  description: [
    "The gap that the widget leaves closes, and `layout` says where the others lie then.",
    "Only the owner may: for others it is NOT_FOUND.",
  ],
  params: { id: "The dashboard's id.", widgetId: "The widget's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The widget is removed; where the others lie now.",
      data: removedWidgetSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ dashboards, call }, { params }) => {
    const request = { dashboardId: params.id, widgetId: params.widgetId };
    const { layout } = await dashboards.deleteWidget(request, call);
    return { status: 200, data: { deleted: true, layout: layoutJson(layout) } };
  },
});
