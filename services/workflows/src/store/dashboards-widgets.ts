import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import type { WidgetPlace } from "../dashboards/layout.ts";
import type { DashboardKey } from "./dashboards.ts";

export const WIDGET_TYPES = ["metric", "line", "bar", "table", "text"] as const;

/** A widget as stored; its config is the caller's JSON text. */
const widgetRow = z.object({
  id: z.string(),
  type: z.enum(WIDGET_TYPES),
  title: z.string(),
  configJson: z.string(),
  refreshIntervalMs: z.number(),
  x: z.number(),
  y: z.number(),
  w: z.number(),
  h: z.number(),
});

/** A widget as stored; its config is the caller's JSON text. */
export type WidgetRow = z.output<typeof widgetRow>;

const columns = sql.fragment`
  widget.id,
  widget.type,
  widget.title,
  widget.config::text as "configJson",
  widget.refresh_interval_ms as "refreshIntervalMs",
  widget.x,
  widget.y,
  widget.w,
  widget.h
`;

/** The widgets of a dashboard, in row and column order. */
export async function listWidgets(
  database: Queryable,
  { companyId, dashboardId }: DashboardKey,
): Promise<readonly WidgetRow[]> {
  return database.any(sql.type(widgetRow)`
    select ${columns}
    from workflows.dashboard_widgets as widget
    where widget.dashboard_id = ${dashboardId} and widget.company_id = ${companyId}
    order by widget.y, widget.x
  `);
}

/** Adds a widget to a dashboard that is locked. */
export async function insertWidget(
  transaction: Transaction,
  { companyId, dashboardId }: DashboardKey,
  widget: WidgetRow,
): Promise<void> {
  await transaction.query(sql.type(z.object({}))`
    insert into workflows.dashboard_widgets (
      id, dashboard_id, company_id, type, title, config, refresh_interval_ms, x, y, w, h
    )
    values (
      ${widget.id}, ${dashboardId}, ${companyId}, ${widget.type}, ${widget.title},
      ${widget.configJson}, ${widget.refreshIntervalMs}, ${widget.x}, ${widget.y}, ${widget.w},
      ${widget.h}
    )
  `);
}

/** Stores the type, title and config of a locked dashboard's widget, not its position. */
export async function updateWidget(
  transaction: Transaction,
  { companyId, dashboardId }: DashboardKey,
  widget: WidgetRow,
): Promise<void> {
  await transaction.query(sql.type(z.object({}))`
    update workflows.dashboard_widgets
    set
      type = ${widget.type},
      title = ${widget.title},
      config = ${widget.configJson},
      refresh_interval_ms = ${widget.refreshIntervalMs}
    where id = ${widget.id} and dashboard_id = ${dashboardId} and company_id = ${companyId}
  `);
}

/** Stores only the positions of a locked dashboard's widgets. */
export async function placeWidgets(
  transaction: Transaction,
  { companyId, dashboardId }: DashboardKey,
  places: readonly WidgetPlace[],
): Promise<void> {
  await transaction.query(sql.type(z.object({}))`
    update workflows.dashboard_widgets as widget
    set x = place.x, y = place.y, w = place.w, h = place.h
    from ${sql.unnest(
      places.map(({ id, x, y, w, h }) => [id, x, y, w, h]),
      ["uuid", "int4", "int4", "int4", "int4"],
    )} as place (id, x, y, w, h)
    where widget.id = place.id
      and widget.dashboard_id = ${dashboardId}
      and widget.company_id = ${companyId}
  `);
}

/** Deletes a widget of a locked dashboard. */
export async function deleteWidget(
  transaction: Transaction,
  { companyId, dashboardId }: DashboardKey,
  widgetId: string,
): Promise<void> {
  await transaction.query(sql.type(z.object({}))`
    delete from workflows.dashboard_widgets
    where id = ${widgetId} and dashboard_id = ${dashboardId} and company_id = ${companyId}
  `);
}

/** The one error for a widget that the dashboard does not have, or whose id is malformed (D1). */
export function widgetNotFound(): AppError {
  return new AppError("NOT_FOUND", "Widget not found");
}
