import { changesBetween, unchanged } from "@workflow/audit";
import type { AuditEntry, AuditFields } from "@workflow/audit";
import type { ConnectionRow } from "../store/connections.ts";

/** What a caller can do to a connection. */
type ConnectionAction =
  | "connection.created"
  | "connection.credentials_replaced"
  | "connection.refreshed"
  | "connection.verified"
  | "connection.deleted";

/** What is recorded of a connection: which one, and what became of it; never its credentials. */
export function connectionEntry(
  action: ConnectionAction,
  before: ConnectionRow | null,
  after: ConnectionRow | null,
): AuditEntry {
  const some = after ?? before;
  const isKept = before !== null && after !== null;
  const which = isKept ? unchanged({ provider: after.provider, name: after.name }) : {};
  const isReplaced = action === "connection.credentials_replaced";
  return {
    action,
    resourceType: "connection",
    resourceId: some?.id ?? "",
    changes: {
      ...which,
      ...changesBetween(shown(before), shown(after)),
      ...(isReplaced ? { credentials: { changed: true as const } } : {}),
    },
  };
}

function shown(row: ConnectionRow | null): AuditFields {
  if (row === null) return {};
  const { name, provider, status, externalAccountId } = row;
  return { name, provider, status, externalAccountId };
}
