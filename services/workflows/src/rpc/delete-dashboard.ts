import { changesBetween } from "@workflow/audit";
import type {
  DeleteDashboardRequest,
  DeleteDashboardResponse,
} from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { requirePerson } from "../dashboards/fields.ts";
import { deleteDashboard as deleteRow, lockOwnDashboard } from "../store/dashboards.ts";
import { requireDashboardKey } from "./dashboard-key.ts";

/** Deletes a dashboard with its widgets. */
export function deleteDashboard({
  database,
  audit,
}: ServiceContext): UnaryMethod<DeleteDashboardRequest, DeleteDashboardResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler({ dashboardId }, context) {
      const ownerId = requirePerson(context);
      const key = requireDashboardKey(dashboardId, context);
      await database.transaction(async (transaction) => {
        const { name, description } = await lockOwnDashboard(transaction, key, ownerId);
        await deleteRow(transaction, key);
        await audit.record(transaction, context, {
          action: "dashboard.deleted",
          resourceType: "dashboard",
          resourceId: key.dashboardId,
          changes: changesBetween({ name, description }, {}),
        });
      });
      audit.wake();
      return {};
    },
  });
}
