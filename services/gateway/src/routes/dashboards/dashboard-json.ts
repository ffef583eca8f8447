import { WidgetType } from "@workflow/proto/workflows/v1/dashboards";
import type { Dashboard, DashboardLayout, Widget } from "@workflow/proto/workflows/v1/dashboards";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/** The types of widgets by their names in the REST API. */
export const WIDGET_TYPES = {
  metric: WidgetType.METRIC,
  line: WidgetType.LINE,
  bar: WidgetType.BAR,
  table: WidgetType.TABLE,
  text: WidgetType.TEXT,
} as const;

const TYPE_NAMES = new Map<WidgetType, string>(
  Object.entries(WIDGET_TYPES).map(([name, type]) => [type, name]),
);

/** A dashboard in a list, without its widgets. */
export function dashboardSummaryJson(dashboard: Dashboard) {
  const { id, name, description, ownerId, widgetCount, createdAt, updatedAt } = dashboard;
  return { id, name, description, ownerId, widgetCount, createdAt, updatedAt };
}

/** A dashboard with its widgets. */
export function dashboardJson(dashboard: Dashboard) {
  return { ...dashboardSummaryJson(dashboard), widgets: dashboard.widgets.map(widgetJson) };
}

/** A widget and its position. */
export function widgetJson(widget: Widget) {
  const { id, title, configJson, refreshIntervalMs, position } = widget;
  return {
    id,
    type: TYPE_NAMES.get(widget.type) ?? "unknown",
    title,
    config: rawOrNull(configJson),
    refresh: { intervalMs: refreshIntervalMs },
    x: position?.x,
    y: position?.y,
    w: position?.w,
    h: position?.h,
  };
}

/** The positions of all widgets; clients apply them by id. */
export function layoutJson(layout: DashboardLayout | undefined): Writable {
  return {
    widgets: (layout?.widgets ?? []).map(({ id, x, y, w, h }) => ({ id, x, y, w, h })),
    updatedAt: layout?.updatedAt,
  };
}
