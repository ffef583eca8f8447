import { invalidRequest } from "@workflow/errors";
import type {
  ListDashboardsRequest,
  ListDashboardsResponse,
} from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { listDashboards as listRows } from "../store/dashboards.ts";
import { toDashboardMessage } from "./dashboard-message.ts";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/** Lists the company's dashboards, whoever owns them, newest first. */
export function listDashboards({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListDashboardsRequest, ListDashboardsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler({ page: { limit: given = 0, cursor = "" } = {} }, { identity }) {
      const { companyId } = identity;
      const limit = given === 0 ? LIMIT_DEFAULT : given;
      if (limit < 1 || limit > LIMIT_MAX) {
        throw invalidRequest([{ path: ["limit"], message: `must be between 1 and ${LIMIT_MAX}` }]);
      }
      const binding = JSON.stringify(["dashboards", companyId]);
      const after = cursor === "" ? null : toPosition(cursors.decode(binding, cursor));
      const rows = await listRows(database, companyId, { limit, after });
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        dashboards: page.map((row) => toDashboardMessage(row)),
        page: {
          cursor: last ? cursors.encode(binding, [last.createdAt.toISOString(), last.id]) : "",
          hasMore: last !== undefined,
        },
      };
    },
  });
}

/** Cursors are signed, so one that decodes was made above. */
function toPosition([createdAt, id]: string[]): { createdAt: string; id: string } {
  if (createdAt === undefined || id === undefined) throw new Error("A cursor holds no position.");
  return { createdAt, id };
}
