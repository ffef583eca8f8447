import { changesBetween } from "@workflow/audit";
import type {
  DeleteWidgetRequest,
  DeleteWidgetResponse,
} from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { compact } from "../dashboards/compact.ts";
import { requirePerson } from "../dashboards/fields.ts";
import { lockOwnDashboard, touchDashboard } from "../store/dashboards.ts";
import {
  deleteWidget as deleteRow,
  listWidgets,
  placeWidgets,
  widgetNotFound,
} from "../store/dashboards-widgets.ts";
import { requireDashboardKey } from "./dashboard-key.ts";
import { toLayoutMessage } from "./dashboard-message.ts";

/** Removes a widget from its dashboard; widgets below it move up. */
export function deleteWidget({
  database,
  audit,
}: ServiceContext): UnaryMethod<DeleteWidgetRequest, DeleteWidgetResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler({ dashboardId, widgetId }, context) {
      const ownerId = requirePerson(context);
      const key = requireDashboardKey(dashboardId, context);
      const layout = await database.transaction(async (transaction) => {
        await lockOwnDashboard(transaction, key, ownerId);
        const before = await listWidgets(transaction, key);
        const removed = before.find(({ id }) => id === widgetId.toLowerCase());
        if (removed === undefined) throw widgetNotFound();
        const after = compact(before.filter((other) => other !== removed));
        await deleteRow(transaction, key, removed.id);
        await placeWidgets(transaction, key, after);
        const updatedAt = await touchDashboard(transaction, key);
        const { id, type, title } = removed;
        await audit.record(transaction, context, {
          action: "dashboard.widget_removed",
          resourceType: "dashboard",
          resourceId: key.dashboardId,
          changes: changesBetween({ widgetId: id, type, title }, {}),
        });
        return toLayoutMessage(after, updatedAt);
      });
      audit.wake();
      return { layout };
    },
  });
}
