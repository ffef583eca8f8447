import { changesBetween, itemChanges, unchanged } from "@workflow/audit";
import type { AuditChange, AuditChanges, AuditEntry } from "@workflow/audit";

/** The audited actions on a secret. */
type SecretAction = "secret.created" | "secret.replaced" | "secret.deleted";

interface AuditedSecret {
  id: string;
  workflowId: string;
  key: string;
  allowedHosts: readonly string[] | null;
}

/**
 * The audit entry of a secret: its identity and its hosts, never its value.
 *
 * @param earlierHosts the hosts before the change
 */
export function secretEntry(
  action: SecretAction,
  { id, workflowId, key, allowedHosts }: AuditedSecret,
  earlierHosts: readonly string[] | null,
): AuditEntry {
  const changes = changesOf(action, { workflowId, key });
  const hosts =
    action === "secret.replaced"
      ? hostChange(earlierHosts, allowedHosts)
      : action === "secret.created"
        ? hostChange(null, allowedHosts)
        : hostChange(allowedHosts, null);
  const all = hosts === null ? changes : { ...changes, allowedHosts: hosts };
  return { action, resourceType: "secret", resourceId: id, changes: all };
}

/**
 * Null when the hosts are the same. When the list is deleted, which allows any host, all of its hosts
 * count as removed.
 */
function hostChange(
  before: readonly string[] | null,
  after: readonly string[] | null,
): AuditChange | null {
  const itemsOf = (hosts: readonly string[] | null): ReadonlyMap<string, string> =>
    new Map((hosts ?? []).map((host) => [host, host]));
  const [was, is] = [itemsOf(before), itemsOf(after)];
  const isSame = was.size === is.size && [...was.keys()].every((host) => is.has(host));
  return isSame ? null : itemChanges(was, is);
}

function changesOf(action: SecretAction, place: { workflowId: string; key: string }): AuditChanges {
  switch (action) {
    case "secret.created":
      return changesBetween({}, place);
    case "secret.deleted":
      return changesBetween(place, {});
    case "secret.replaced":
      return { ...unchanged(place), value: { changed: true } };
  }
}
