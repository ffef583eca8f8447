import type {
  RecoverEndpointRequest,
  RecoverEndpointResponse,
} from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { endpointEntry } from "../endpoints/endpoint-audit.ts";
import {
  endpointDisabled,
  endpointNotFound,
  requireEndpointKey,
} from "../endpoints/find-endpoint.ts";
import { wrongField } from "../endpoints/wrong-field.ts";
import { hasFailed, requeueFailed } from "../store/endpoint-deliveries.ts";
import { findEndpoint } from "../store/endpoints.ts";
import { announceEndpoint } from "../store/lanes.ts";

/** The limit of deliveries for one call: more would lock their rows for too long. */
const REQUEUED_MAX = 10_000;

/**
 * Queues failed deliveries of an endpoint again, the newest first, if they were made at or after a
 * given time.
 */
export function recoverEndpoint(
  context: ServiceContext,
): UnaryMethod<RecoverEndpointRequest, RecoverEndpointResponse> {
  const { writes, audit } = context;
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const since = parseSince(request.since);
      const key = requireEndpointKey(request.endpointId, call);
      const answer = await writes.transaction(call, async (transaction) => {
        const endpoint = await findEndpoint(transaction, key);
        // The endpoint is not locked: thousands of deliveries take a second, and the counting of its
        // failures would wait. If it is disabled or deleted meanwhile, its waiting deliveries are
        // cleared for a minute.
        if (endpoint === null) throw endpointNotFound();
        if (endpoint.status === "disabled") throw endpointDisabled();
        const requeued = await requeueFailed(transaction, key, since, REQUEUED_MAX);
        const hasMore = requeued === REQUEUED_MAX && (await hasFailed(transaction, key, since));
        await announceEndpoint(transaction, key);
        const changes = {
          since: { from: null, to: since.toISOString() },
          requeued: { from: null, to: requeued },
        };
        await audit.record(
          transaction,
          call,
          endpointEntry("webhook_endpoint.recovered", endpoint, changes),
        );
        return { requeued, hasMore };
      });
      audit.wake();
      return answer;
    },
  });
}

function parseSince(since: Date | undefined): Date {
  if (since === undefined || Number.isNaN(since.getTime())) {
    throw wrongField("since", "must be a timestamp");
  }
  if (since.getTime() > Date.now()) throw wrongField("since", "must not be in the future");
  // The range of the database's times is smaller than that of dates, and no delivery is older than
  // 1970.
  return new Date(Math.max(since.getTime(), 0));
}
