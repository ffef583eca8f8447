import { changesBetween } from "@workflow/audit";
import type { Dashboard, UpdateDashboardRequest } from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { requirePerson } from "../dashboards/fields.ts";
import { checkFields } from "../domain/content.ts";
import { lockOwnDashboard, updateDashboard as updateRow } from "../store/dashboards.ts";
import type { DashboardRow } from "../store/dashboards.ts";
import { listWidgets } from "../store/dashboards-widgets.ts";
import { requireDashboardKey } from "./dashboard-key.ts";
import { toDashboardMessage } from "./dashboard-message.ts";

/** Changes a dashboard's name or description. */
export function updateDashboard({
  database,
  audit,
}: ServiceContext): UnaryMethod<UpdateDashboardRequest, Dashboard> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const ownerId = requirePerson(context);
      const { name, description } = request;
      checkFields({
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
      });
      const key = requireDashboardKey(request.dashboardId, context);
      const message = await database.transaction(async (transaction) => {
        const before = await lockOwnDashboard(transaction, key, ownerId);
        const after = await updateRow(transaction, key, {
          name: name ?? before.name,
          description: description === undefined ? before.description : description || null,
        });
        await audit.record(transaction, context, {
          action: "dashboard.updated",
          resourceType: "dashboard",
          resourceId: key.dashboardId,
          changes: changesBetween(shown(before), shown(after)),
        });
        return toDashboardMessage(after, await listWidgets(transaction, key));
      });
      audit.wake();
      return message;
    },
  });
}

function shown({ name, description }: DashboardRow) {
  return { name, description };
}
