import type {
  DeleteEndpointRequest,
  DeleteEndpointResponse,
} from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { endpointChanges, endpointEntry } from "../endpoints/endpoint-audit.ts";
import { endpointNotFound, requireEndpointKey } from "../endpoints/find-endpoint.ts";
import { deleteEndpoint as deleteRow, lockEndpoint } from "../store/endpoints.ts";
import { announceEndpoint, leaveDeliveries } from "../store/lanes.ts";

/** Deletes an endpoint. Its deliveries are invisible at once, and are deleted page by page afterwards. */
export function deleteEndpoint(
  context: ServiceContext,
): UnaryMethod<DeleteEndpointRequest, DeleteEndpointResponse> {
  const { writes, audit } = context;
  return rpc({
    scopes: "workflows:write",
    async handler({ endpointId }, call) {
      const key = requireEndpointKey(endpointId, call);
      await writes.transaction(call, async (transaction) => {
        const before = await lockEndpoint(transaction, key);
        if (before === null || !(await deleteRow(transaction, key))) throw endpointNotFound();
        await leaveDeliveries(transaction, key);
        await announceEndpoint(transaction, key);
        const changes = endpointChanges(before, null);
        await audit.record(
          transaction,
          call,
          endpointEntry("webhook_endpoint.deleted", before, changes),
        );
      });
      audit.wake();
      return {};
    },
  });
}
