import { isUuid } from "@workflow/db";
import type { RpcContext } from "@workflow/rpc";
import { dashboardNotFound } from "../store/dashboards.ts";
import type { DashboardKey } from "../store/dashboards.ts";

/**
 * The dashboard that a request names, within the caller's company.
 *
 * @throws AppError NOT_FOUND for an id of the wrong form, as for an unknown one (D1)
 */
export function requireDashboardKey(dashboardId: string, { identity }: RpcContext): DashboardKey {
  if (!isUuid(dashboardId)) throw dashboardNotFound();
  return { companyId: identity.companyId, dashboardId: dashboardId.toLowerCase() };
}
