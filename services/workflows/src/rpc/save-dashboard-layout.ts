import { itemChanges } from "@workflow/audit";
import type {
  DashboardLayout,
  SaveDashboardLayoutRequest,
} from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { compact } from "../dashboards/compact.ts";
import { requirePerson } from "../dashboards/fields.ts";
import { placesById, requireComplete, requireLayout } from "../dashboards/layout.ts";
import { lockOwnDashboard, touchDashboard } from "../store/dashboards.ts";
import { listWidgets, placeWidgets } from "../store/dashboards-widgets.ts";
import { requireDashboardKey } from "./dashboard-key.ts";
import { toLayoutMessage } from "./dashboard-message.ts";

/** Saves the positions of all widgets of a dashboard, or refuses and saves nothing. */
export function saveDashboardLayout({
  database,
  audit,
}: ServiceContext): UnaryMethod<SaveDashboardLayoutRequest, DashboardLayout> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const ownerId = requirePerson(context);
      // Ids are stored in lower case.
      const places = request.widgets.map((place) => ({ ...place, id: place.id.toLowerCase() }));
      requireLayout(places);
      const key = requireDashboardKey(request.dashboardId, context);
      const layout = await database.transaction(async (transaction) => {
        await lockOwnDashboard(transaction, key, ownerId);
        const before = await listWidgets(transaction, key);
        requireComplete(places, before);
        const after = compact(places);
        await placeWidgets(transaction, key, after);
        const updatedAt = await touchDashboard(transaction, key);
        await audit.record(transaction, context, {
          action: "dashboard.layout_updated",
          resourceType: "dashboard",
          resourceId: key.dashboardId,
          changes: { widgets: itemChanges(placesById(before), placesById(after)) },
        });
        return toLayoutMessage(after, updatedAt);
      });
      audit.wake();
      return layout;
    },
  });
}
