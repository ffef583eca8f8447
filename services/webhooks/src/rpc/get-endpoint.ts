import type { Endpoint, GetEndpointRequest } from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { getEndpointRow, requireEndpointKey } from "../endpoints/find-endpoint.ts";
import { openEndpoint } from "../endpoints/open-endpoint.ts";
import { toEndpointMessage } from "./endpoint-message.ts";

/** One endpoint, without its secret. */
export function getEndpoint({
  database,
  ring,
}: ServiceContext): UnaryMethod<GetEndpointRequest, Endpoint> {
  return rpc({
    scopes: "workflows:read",
    async handler({ endpointId }, call) {
      const row = await getEndpointRow(database, requireEndpointKey(endpointId, call));
      return toEndpointMessage(row, (await openEndpoint(ring, row)).headers);
    },
  });
}
