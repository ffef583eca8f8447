import type {
  ListConnectionsRequest,
  ListConnectionsResponse,
} from "@workflow/proto/integrations/v1/connections";
import { ConnectionStatus as MessageStatus } from "@workflow/proto/integrations/v1/connections";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { CONNECTION_STATUSES } from "../domain/connection-states.ts";
import type { ConnectionStatus } from "../domain/connection-states.ts";
import type { ServiceContext } from "../context.ts";
import { listConnections as listRows } from "../store/connections.ts";
import { MESSAGE_STATUS, toConnectionMessage } from "./connection-message.ts";
import { requireProvider, wrongField } from "./connection-request.ts";

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/** Lists connections, newest first (D6); abandoned ones only when asked for by status. */
export function listConnections({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListConnectionsRequest, ListConnectionsResponse> {
  return rpc({
    scopes: "connections:read",
    async handler(request, { identity }) {
      const companyId = identity.companyId.toLowerCase();
      const provider = request.provider === "" ? null : requireProvider(request.provider).id;
      const status = parseStatus(request.status);
      const limit = parseLimit(request.page?.limit ?? 0);
      const binding = JSON.stringify(["connections", companyId, provider, status]);
      const cursor = request.page?.cursor ?? "";
      const after = cursor === "" ? null : toPosition(cursors.decode(binding, cursor));
      const page = await listRows(database, { companyId, provider, status, limit, after });
      const last = page.hasMore ? page.rows.at(-1) : undefined;
      return {
        connections: page.rows.map((row) => toConnectionMessage(row)),
        page: {
          cursor: last ? cursors.encode(binding, [last.createdAt.toISOString(), last.id]) : "",
          hasMore: page.hasMore,
        },
      };
    },
  });
}

function parseLimit(limit: number): number {
  if (limit === 0) return LIMIT_DEFAULT;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw wrongField("limit", `must be between 1 and ${LIMIT_MAX}`);
}

/** Null: all but abandoned ones. */
function parseStatus(status: MessageStatus): ConnectionStatus | null {
  if (status === MessageStatus.UNSPECIFIED) return null;
  const known = CONNECTION_STATUSES.find((each) => MESSAGE_STATUS[each] === status);
  if (known !== undefined) return known;
  throw wrongField("status", `must be one of ${CONNECTION_STATUSES.join(", ")}`);
}

/** Cursors are signed, so a cursor that decodes was made above. */
function toPosition([createdAt, id]: string[]): { createdAt: string; id: string } {
  if (createdAt === undefined || id === undefined) throw new Error("A cursor holds no position.");
  return { createdAt, id };
}
