import { changesBetween, unchanged } from "@workflow/events";
import type { AuditChanges, AuditEntry } from "@workflow/events";

/** What a caller can do to a secret. */
type SecretAction = "secret.created" | "secret.replaced" | "secret.deleted";

/** What is recorded of a secret: which one it is, and never its value. */
export function secretEntry(
  action: SecretAction,
  { id, workflowId, key }: { id: string; workflowId: string; key: string },
): AuditEntry {
  const changes = changesOf(action, { workflowId, key });
  return { action, resourceType: "secret", resourceId: id, changes };
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
