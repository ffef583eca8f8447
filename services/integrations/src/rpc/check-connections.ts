import type {
  CheckConnectionsRequest,
  CheckConnectionsResponse,
} from "@workflow/proto/integrations/v1/actions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { CallContext } from "../actions/call-provider.ts";
import { countActiveByProvider, listActiveIds } from "../store/active-connections.ts";
import { badRequest } from "./action-message.ts";

const PROVIDERS_MAX = 100;
const CONNECTIONS_MAX = 1_000;

/** Returns which connections of a workflow do not exist. */
export function checkConnections({
  database,
}: CallContext): UnaryMethod<CheckConnectionsRequest, CheckConnectionsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler({ providers, connectionIds }, { identity }) {
      if (providers.length > PROVIDERS_MAX) {
        throw badRequest("providers", `must be at most ${PROVIDERS_MAX}`);
      }
      if (connectionIds.length > CONNECTIONS_MAX) {
        throw badRequest("connectionIds", `must be at most ${CONNECTIONS_MAX}`);
      }
      const { companyId } = identity;
      const [active, activeIds] = await Promise.all([
        countActiveByProvider(database, companyId, providers),
        listActiveIds(database, companyId, connectionIds),
      ]);
      return {
        missingProviders: providers.filter((id) => !active.has(id)),
        missingConnectionIds: without(connectionIds, activeIds),
        ambiguousProviders: providers.filter((id) => (active.get(id) ?? 0) > 1),
      };
    },
  });
}

function without(all: readonly string[], found: readonly string[]): string[] {
  const there = new Set(found);
  return all.filter((id) => !there.has(id));
}
