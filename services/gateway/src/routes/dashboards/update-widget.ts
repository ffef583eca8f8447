import { z } from "zod";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { placeFields, refresh, widgetTitle, widgetType } from "./dashboard-fields.ts";
import { layoutJson, widgetJson } from "./dashboard-json.ts";
import { changedWidgetSchema } from "./dashboard-schema.ts";

const POSITION = ["x", "y", "w", "h"] as const;

export const updateWidget = sessionRoute({
  method: "PATCH",
  path: "/dashboards/{id}/widgets/{widgetId}",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.widget_updated",
  summary: "Change or move a widget",
  description: [
    "What is not given stays, members of the config too.",
    "A move needs all of x, y, w and h; other widgets make room, and `layout` says where all of them lie then.",
  ],
  params: { id: "The dashboard's id.", widgetId: "The widget's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        type: widgetType.optional(),
        title: widgetTitle.optional(),
        config: jsonObject
          .optional()
          .describe("Members of the config that change; null removes one.")
          .meta({ examples: [{ periodMs: 86_400_000 }] }),
        refresh: refresh.optional(),
        x: placeFields.x.optional(),
        y: placeFields.y.optional(),
        w: placeFields.w.optional(),
        h: placeFields.h.optional(),
      })
      .superRefine((body, context) => {
        const missing = POSITION.filter((name) => body[name] === undefined);
        if (missing.length === POSITION.length) return;
        const message = "is required: a position is given as a whole";
        for (const name of missing) {
          context.addIssue({ code: "custom", path: [name], message });
        }
      })
      .meta({
        id: "WidgetUpdate",
        description: "What to change about a widget; x, y, w and h go together.",
        dependentRequired: Object.fromEntries(POSITION.map((name) => [name, [...POSITION]])),
      }),
  },
  responses: {
    200: {
      description: "The widget, and where all widgets of the dashboard lie now.",
      data: changedWidgetSchema,
    },
  },
  errors: ["NOT_FOUND", "VALIDATION_ERROR"],
  handler: async ({ dashboards, call }, { params, body, rawJson }) => {
    const { type, title, x, y, w, h } = body;
    const isMoved = x !== undefined && y !== undefined && w !== undefined && h !== undefined;
    const { widget, layout } = await dashboards.updateWidget(
      {
        dashboardId: params.id,
        widgetId: params.widgetId,
        type,
        title,
        configJson: rawJson("config"),
        refreshIntervalMs: body.refresh?.intervalMs,
        position: isMoved ? { id: params.widgetId, x, y, w, h } : undefined,
      },
      call,
    );
    return {
      status: 200,
      data: {
        ...(widget === undefined ? {} : widgetJson(widget)),
        layout: layoutJson(layout),
      },
    };
  },
});
