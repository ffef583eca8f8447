import { isStorableText } from "@workflow/json";
import type {
  FindAccountsRequest,
  FindAccountsResponse,
} from "@workflow/proto/integrations/v1/accounts";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { listAccountConnections } from "../store/account-connections.ts";
import { badRequest } from "./action-message.ts";
import { toFoundConnection } from "./found-connection-message.ts";

const ACCOUNTS_MAX = 100;

/** Finds the companies that have connected accounts at a provider. */
export function findAccounts({
  database,
}: ServiceContext): UnaryMethod<FindAccountsRequest, FindAccountsResponse> {
  return rpc({
    scopes: "internal:accounts",
    async handler({ provider, externalAccountIds }) {
      const { length } = externalAccountIds;
      if (length < 1 || length > ACCOUNTS_MAX) {
        throw badRequest("externalAccountIds", `must be 1 to ${ACCOUNTS_MAX}`);
      }
      if (!isStorableText(provider)) return { connections: [] };
      // A text that Postgres cannot store is no account's id.
      const ids = externalAccountIds.filter(isStorableText);
      const rows = await listAccountConnections(database, provider, ids);
      return { connections: rows.map(toFoundConnection) };
    },
  });
}
