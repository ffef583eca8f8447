import { EndpointStatus as MessageStatus } from "@workflow/proto/webhooks/v1/endpoints";
import type {
  Endpoint,
  ListEndpointsRequest,
  ListEndpointsResponse,
} from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import type { EndpointStatus } from "../domain/endpoint.ts";
import { openEndpoint } from "../endpoints/open-endpoint.ts";
import { wrongField } from "../endpoints/wrong-field.ts";
import { listEndpoints as listRows } from "../store/endpoints.ts";
import { toEndpointMessage } from "./endpoint-message.ts";
import { parsePage, toPageInfo } from "./page-request.ts";

/** The company's endpoints, newest first (D6). */
export function listEndpoints({
  database,
  ring,
  cursors,
}: ServiceContext): UnaryMethod<ListEndpointsRequest, ListEndpointsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, { identity }) {
      const companyId = identity.companyId.toLowerCase();
      const status = parseStatus(request.status);
      const binding = JSON.stringify(["webhook-endpoints", companyId, status]);
      const start = parsePage(cursors, binding, request.page);
      const { rows, hasMore } = await listRows(database, { companyId, status, ...start });
      const endpoints: Endpoint[] = [];
      for (const row of rows) {
        endpoints.push(toEndpointMessage(row, (await openEndpoint(ring, row)).headers));
      }
      const lastId = hasMore ? (rows.at(-1)?.id ?? null) : null;
      return { endpoints, page: toPageInfo(cursors, binding, lastId) };
    },
  });
}

/** Null: any status. */
function parseStatus(status: MessageStatus): EndpointStatus | null {
  if (status === MessageStatus.UNSPECIFIED) return null;
  if (status === MessageStatus.ACTIVE) return "active";
  if (status === MessageStatus.DISABLED) return "disabled";
  throw wrongField("status", "must be active or disabled");
}
