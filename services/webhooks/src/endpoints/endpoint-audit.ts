import { changesBetween, itemChanges, unchanged } from "@workflow/audit";
import type { AuditChange, AuditEntry, AuditFields } from "@workflow/audit";
import type { EndpointRow } from "../store/endpoints.ts";

/** The audited actions on an endpoint. */
type EndpointAction =
  | "webhook_endpoint.created"
  | "webhook_endpoint.updated"
  | "webhook_endpoint.deleted"
  | "webhook_endpoint.secret_rotated"
  | "webhook_endpoint.tested"
  | "webhook_endpoint.recovered";

/** The audit entry of an endpoint. It never has the secret, the headers, or any part of the URL but the host. */
export function endpointEntry(
  action: EndpointAction,
  { id, name }: Pick<EndpointRow, "id" | "name">,
  changes: Readonly<Record<string, AuditChange>> = {},
): AuditEntry {
  const which = unchanged({ name });
  return {
    action,
    resourceType: "webhook_endpoint",
    resourceId: id,
    changes: { ...which, ...changes },
  };
}

/** The differences between two states of an endpoint; null stands for a state in which it does not exist. */
export function endpointChanges(
  before: EndpointRow | null,
  after: EndpointRow | null,
): Record<string, AuditChange> {
  const urls = before !== null && after !== null && before.url !== after.url;
  return {
    ...changesBetween(shown(before), shown(after)),
    // The path or query of a receiver's URL is often its secret.
    ...(urls ? { url: { changed: true as const } } : {}),
    ...listChange("events", before?.events ?? null, after?.events ?? null),
    ...listChange("workflowIds", before?.workflowIds ?? null, after?.workflowIds ?? null),
  };
}

/** The audit entry of a retry by hand. */
export function deliveryEntry(deliveryId: string, fields: AuditFields): AuditEntry {
  return {
    action: "webhook_delivery.retried",
    resourceType: "webhook_delivery",
    resourceId: deliveryId,
    changes: unchanged(fields),
  };
}

function shown(row: EndpointRow | null): AuditFields {
  if (row === null) return {};
  const { name, description, status, rateLimitPerSecond } = row;
  return { name, description, status, rateLimitPerSecond, host: URL.parse(row.url)?.host };
}

function listChange(
  field: string,
  before: readonly string[] | null,
  after: readonly string[] | null,
): Record<string, AuditChange> {
  const key = (values: readonly string[] | null): string =>
    JSON.stringify(values?.toSorted() ?? null);
  if (key(before) === key(after)) return {};
  // A change from or to all events is no list of added or removed names.
  if (before === null || after === null) return { [field]: { changed: true } };
  return { [field]: itemChanges(toItems(before), toItems(after)) };
}

function toItems(values: readonly string[]): ReadonlyMap<string, string> {
  return new Map(values.map((value) => [value, value]));
}
