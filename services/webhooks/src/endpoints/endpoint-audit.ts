import { changesBetween, itemChanges, unchanged } from "@workflow/audit";
import type { AuditChange, AuditEntry, AuditFields } from "@workflow/audit";
import type { EndpointRow } from "../store/endpoints.ts";

/** What a caller can do to an endpoint. */
type EndpointAction =
  | "webhook_endpoint.created"
  | "webhook_endpoint.updated"
  | "webhook_endpoint.deleted"
  | "webhook_endpoint.secret_rotated"
  | "webhook_endpoint.tested"
  | "webhook_endpoint.recovered";

/** What is recorded of an endpoint; never its secret, its headers or what its URL says beyond the host. */
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

/** In what an endpoint differs; null stands for one that is not there yet, or not any more. */
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

/** What is recorded of a retry by hand. */
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
  // Going from or to all says more than which ones were named.
  if (before === null || after === null) return { [field]: { changed: true } };
  return { [field]: itemChanges(toItems(before), toItems(after)) };
}

function toItems(values: readonly string[]): ReadonlyMap<string, string> {
  return new Map(values.map((value) => [value, value]));
}
