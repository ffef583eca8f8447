import { z } from "zod";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { gridNumber, refresh, widgetJson, widgetType } from "./dashboard-json.ts";

const size = gridNumber.min(1, "must be from 1 to 12").max(12, "must be from 1 to 12").optional();

export const createWidget = sessionRoute({
  method: "POST",
  path: "/dashboards/{id}/widgets",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.widget_added",
  summary: "Add a widget where there is room for it",
  params: { id: "The dashboard's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      type: widgetType,
      title: z.string().default(""),
      config: jsonObject.optional(),
      refresh: refresh.optional(),
      // The size by either of its names; a place is not asked for.
      width: size,
      height: size,
      w: size,
      h: size,
    }),
  },
  responses: { 201: "The widget and where it lies." },
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
