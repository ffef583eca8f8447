import { z } from "zod";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { refresh, widgetConfig, widgetSize, widgetTitle, widgetType } from "./dashboard-fields.ts";
import { widgetJson } from "./dashboard-json.ts";
import { widgetSchema } from "./dashboard-schema.ts";

export const createWidget = sessionRoute({
  method: "POST",
  path: "/dashboards/{id}/widgets",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.widget_added",
  summary: "Add a widget to a dashboard",
  description: [
    "The widget is put where there is room for it; a place is not asked for.",
    "A dashboard has at most 40 widgets.",
    "Only the owner may add one: for others it is NOT_FOUND.",
  ],
  params: { id: "The dashboard's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        type: widgetType,
        title: widgetTitle.default(""),
        config: widgetConfig.optional().describe("What it shows; nothing by default."),
        refresh: refresh.optional(),
        // The size, by either of its names; a requested position is ignored.
        width: widgetSize.describe("How many columns it takes; 4 by default."),
        height: widgetSize.describe("How many rows it takes; 4 by default."),
        w: widgetSize.describe("The same as width, which goes before it."),
        h: widgetSize.describe("The same as height, which goes before it."),
      })
      .meta({ id: "NewWidget", description: "A widget to be added." }),
  },
  responses: { 201: { description: "The widget and where it lies.", data: widgetSchema } },
  errors: ["NOT_FOUND", "VALIDATION_ERROR"],
  handler: async ({ dashboards, call }, { params, body, rawJson }) => {
    const { type, title } = body;
    const widget = await dashboards.createWidget(
      {
        dashboardId: params.id,
        type,
        title,
        configJson: rawJson("config"),
        refreshIntervalMs: body.refresh?.intervalMs,
        w: body.width ?? body.w,
        h: body.height ?? body.h,
      },
      call,
    );
    return { status: 201, data: widgetJson(widget) };
  },
});
