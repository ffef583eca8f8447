import type { Dashboard, GetDashboardRequest } from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { getDashboard as getRow } from "../store/dashboards.ts";
import { listWidgets } from "../store/dashboards-widgets.ts";
import { requireDashboardKey } from "./dashboard-key.ts";
import { toDashboardMessage } from "./dashboard-message.ts";

/** Returns a dashboard with its widgets. */
export function getDashboard({
  database,
}: ServiceContext): UnaryMethod<GetDashboardRequest, Dashboard> {
  return rpc({
    scopes: "workflows:read",
    async handler({ dashboardId }, context) {
      const key = requireDashboardKey(dashboardId, context);
      const row = await getRow(database, key);
      const widgets = await listWidgets(database, key);
      return { ...toDashboardMessage(row, widgets), widgetCount: widgets.length };
    },
  });
}
