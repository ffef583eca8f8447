import { changesBetween, itemChanges, unchanged } from "@workflow/audit";
import type { AuditChanges } from "@workflow/audit";
import type {
  UpdateWidgetRequest,
  UpdateWidgetResponse,
} from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { compact } from "../dashboards/compact.ts";
import { requirePerson, requireWidgetFields } from "../dashboards/fields.ts";
import { placesById } from "../dashboards/layout.ts";
import { mergeConfig } from "../dashboards/widget-config.ts";
import { lockOwnDashboard, touchDashboard } from "../store/dashboards.ts";
import {
  listWidgets,
  placeWidgets,
  updateWidget as updateRow,
  widgetNotFound,
} from "../store/dashboards-widgets.ts";
import type { WidgetRow } from "../store/dashboards-widgets.ts";
import { requireDashboardKey } from "./dashboard-key.ts";
import { parseWidgetType, toLayoutMessage, toWidgetMessage } from "./dashboard-message.ts";

/**
 * Changes a widget; omitted fields stay, and so do omitted members of its config. A widget that is
 * moved to another one's position goes before that one.
 */
export function updateWidget({
  database,
  audit,
}: ServiceContext): UnaryMethod<UpdateWidgetRequest, UpdateWidgetResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const ownerId = requirePerson(context);
      requireFields(request);
      const key = requireDashboardKey(request.dashboardId, context);
      const response = await database.transaction(async (transaction) => {
        await lockOwnDashboard(transaction, key, ownerId);
        const before = await listWidgets(transaction, key);
        const old = before.find(({ id }) => id === request.widgetId.toLowerCase());
        if (old === undefined) throw widgetNotFound();
        const changed = applyTo(old, request);
        const after = compact([changed, ...before.filter((other) => other !== old)]);
        await updateRow(transaction, key, changed);
        if (request.position !== undefined) await placeWidgets(transaction, key, after);
        const updatedAt = await touchDashboard(transaction, key);
        await audit.record(transaction, context, {
          action: "dashboard.widget_updated",
          resourceType: "dashboard",
          resourceId: key.dashboardId,
          changes: {
            ...widgetChanges(old, changed),
            ...(request.position === undefined
              ? {}
              : { widgets: itemChanges(placesById(before), placesById(after)) }),
          },
        });
        const placed = after.find(({ id }) => id === old.id) ?? changed;
        return { widget: toWidgetMessage(placed), layout: toLayoutMessage(after, updatedAt) };
      });
      audit.wake();
      return response;
    },
  });
}

function requireFields(request: UpdateWidgetRequest): void {
  const { title, refreshIntervalMs, position, type, configJson } = request;
  if (type !== undefined) parseWidgetType(type);
  requireWidgetFields({ title, refreshIntervalMs, place: position });
  // The merged config is what counts; this check comes first so that 400 precedes 404 (D2).
  if (configJson !== undefined) mergeConfig("{}", configJson);
}

function applyTo(old: WidgetRow, request: UpdateWidgetRequest): WidgetRow {
  const { x, y, w, h } = request.position ?? old;
  return {
    id: old.id,
    type: request.type === undefined ? old.type : parseWidgetType(request.type),
    title: request.title ?? old.title,
    configJson:
      request.configJson === undefined
        ? old.configJson
        : mergeConfig(old.configJson, request.configJson),
    refreshIntervalMs: request.refreshIntervalMs ?? old.refreshIntervalMs,
    x,
    y,
    w,
    h,
  };
}

function widgetChanges(before: WidgetRow, after: WidgetRow): AuditChanges {
  const shown = ({ type, title, refreshIntervalMs }: WidgetRow) => ({
    type,
    title,
    refreshIntervalMs,
  });
  return {
    ...unchanged({ widgetId: before.id }),
    ...changesBetween(shown(before), shown(after)),
    ...(before.configJson === after.configJson ? {} : { config: { changed: true } }),
  };
}
