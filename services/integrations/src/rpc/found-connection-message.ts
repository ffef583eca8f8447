import type { FoundConnection } from "@workflow/proto/integrations/v1/accounts";
import type { FoundConnectionRow } from "../store/account-connections.ts";

/** A connection as the routing of events sees it. */
export function toFoundConnection(row: FoundConnectionRow): FoundConnection {
  return { ...row, externalAccountId: row.externalAccountId ?? "" };
}
