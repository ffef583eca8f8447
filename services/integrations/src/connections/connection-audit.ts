import { changesBetween, unchanged } from "@workflow/audit";
import type { AuditEntry, AuditFields } from "@workflow/audit";
import type { ConnectionRow } from "../store/connections.ts";

/** The audited actions on a connection. */
type ConnectionAction =
  | "connection.created"
  | "connection.credentials_replaced"
  | "connection.refreshed"
  | "connection.verified"
  | "connection.deleted";

/** The audit entry of a connection: its identity and its changes, never its credentials. */
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
