import { changesBetween } from "@workflow/audit";
import { newUuid } from "@workflow/db";
import { invalidRequest } from "@workflow/errors";
import type { CreateWidgetRequest, Widget } from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { findPlace } from "../dashboards/compact.ts";
import { requirePerson, requireWidgetFields } from "../dashboards/fields.ts";
import { SIZE_DEFAULT, WIDGETS_MAX } from "../dashboards/layout.ts";
import { checkConfig } from "../dashboards/widget-config.ts";
import { lockOwnDashboard, touchDashboard } from "../store/dashboards.ts";
import { insertWidget, listWidgets } from "../store/dashboards-widgets.ts";
import { requireDashboardKey } from "./dashboard-key.ts";
import { parseWidgetType, toWidgetMessage } from "./dashboard-message.ts";

const REFRESH_MS_DEFAULT = 60_000;

/** Adds a widget at the first free position; callers choose its size. */
export function createWidget({
  database,
  audit,
}: ServiceContext): UnaryMethod<CreateWidgetRequest, Widget> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const ownerId = requirePerson(context);
      const { title, refreshIntervalMs = REFRESH_MS_DEFAULT } = request;
      const size = { w: request.w ?? SIZE_DEFAULT, h: request.h ?? SIZE_DEFAULT };
      const type = parseWidgetType(request.type);
      requireWidgetFields({ title, refreshIntervalMs, place: { x: 0, y: 0, ...size } });
      const configJson = checkConfig(request.configJson ?? "{}");
      const key = requireDashboardKey(request.dashboardId, context);
      const widget = await database.transaction(async (transaction) => {
        await lockOwnDashboard(transaction, key, ownerId);
        const others = await listWidgets(transaction, key);
        if (others.length >= WIDGETS_MAX) throw dashboardFull();
        const place = findPlace(others, size);
        const added = { id: newUuid(), type, title, configJson, refreshIntervalMs, ...place };
        await insertWidget(transaction, key, added);
        await touchDashboard(transaction, key);
        await audit.record(transaction, context, {
          action: "dashboard.widget_added",
          resourceType: "dashboard",
          resourceId: key.dashboardId,
          changes: changesBetween({}, { widgetId: added.id, type, title }),
        });
        return added;
      });
      audit.wake();
      return toWidgetMessage(widget);
    },
  });
}

function dashboardFull() {
  const message = `A dashboard has at most ${WIDGETS_MAX} widgets.`;
  return invalidRequest([{ path: ["widgets"], message }]);
}
