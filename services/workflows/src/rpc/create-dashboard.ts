import { changesBetween } from "@workflow/audit";
import { newUuid } from "@workflow/db";
import type { CreateDashboardRequest, Dashboard } from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { requirePerson } from "../dashboards/fields.ts";
import { checkFields } from "../domain/content.ts";
import { insertDashboard } from "../store/dashboards.ts";
import { toDashboardMessage } from "./dashboard-message.ts";

/** Stores a new dashboard, owned by the caller. */
export function createDashboard({
  database,
  audit,
}: ServiceContext): UnaryMethod<CreateDashboardRequest, Dashboard> {
  return rpc({
    scopes: "workflows:write",
    async handler({ name, description: text }, context) {
      const ownerId = requirePerson(context);
      const description = text === "" ? null : text;
      checkFields({ name, description });
      const key = { companyId: context.identity.companyId, dashboardId: newUuid() };
      const row = await database.transaction(async (transaction) => {
        const inserted = await insertDashboard(transaction, key, { ownerId, name, description });
        await audit.record(transaction, context, {
          action: "dashboard.created",
          resourceType: "dashboard",
          resourceId: key.dashboardId,
          changes: changesBetween({}, { name, description }),
        });
        return inserted;
      });
      audit.wake();
      return toDashboardMessage(row);
    },
  });
}
