import type { Transaction } from "@workflow/db";
import type { Endpoint, UpdateEndpointRequest } from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import type { EndpointStatus } from "../domain/endpoint.ts";
import { endpointChanges, endpointEntry } from "../endpoints/endpoint-audit.ts";
import {
  endpointNotFound,
  getEndpointRow,
  requireEndpointKey,
} from "../endpoints/find-endpoint.ts";
import { openEndpoint } from "../endpoints/open-endpoint.ts";
import { parsePatch } from "../endpoints/parse-endpoint.ts";
import { sealEndpointSecrets } from "../secrets/endpoint-secrets.ts";
import {
  disableByCaller,
  enableEndpoint,
  lockEndpoint,
  updateContent,
} from "../store/endpoints.ts";
import { announceEndpoint, keepNewDeliveries, leaveDeliveries } from "../store/lanes.ts";
import type { EndpointKey } from "../store/lanes.ts";
import { toEndpointMessage } from "./endpoint-message.ts";

/** Changes an endpoint. Enabling it sends its held deliveries. Disabling it fails the waiting ones (D47). */
export function updateEndpoint(
  context: ServiceContext,
): UnaryMethod<UpdateEndpointRequest, Endpoint> {
  const { ring, writes, http, audit } = context;
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const key = requireEndpointKey(request.endpointId, call);
      const { headers, status, ...patch } = parsePatch(http, request);
      const updated = await writes.transaction(call, async (transaction) => {
        const before = await lockEndpoint(transaction, key);
        if (before === null) throw endpointNotFound();
        const held = await openEndpoint(ring, before);
        const secrets = { secret: held.secret, headers: headers ?? held.headers };
        const { sealed } = await sealEndpointSecrets(transaction, ring, key, secrets);
        await updateContent(transaction, key, { ...before, ...patch }, sealed);
        if (status !== undefined) await changeStatus(transaction, key, status);
        const row = await getEndpointRow(transaction, key);
        await announceEndpoint(transaction, key);
        const changes = {
          ...endpointChanges(before, row),
          ...(headers === undefined ? {} : { headers: { changed: true as const } }),
        };
        await audit.record(
          transaction,
          call,
          endpointEntry("webhook_endpoint.updated", row, changes),
        );
        return { row, headers: secrets.headers };
      });
      audit.wake();
      return toEndpointMessage(updated.row, updated.headers);
    },
  });
}

/**
 * The caller's decision ends all deliveries, even those held since the receiver's failures disabled the
 * endpoint.
 */
async function changeStatus(
  transaction: Transaction,
  key: EndpointKey,
  status: EndpointStatus,
): Promise<void> {
  if (status === "active") {
    if (await enableEndpoint(transaction, key)) await keepNewDeliveries(transaction, key);
    return;
  }
  if (await disableByCaller(transaction, key)) await leaveDeliveries(transaction, key);
}
