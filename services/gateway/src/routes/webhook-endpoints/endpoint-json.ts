import { EndpointStatus } from "@workflow/proto/webhooks/v1/endpoints";
import type { Endpoint, EndpointWithSecret } from "@workflow/proto/webhooks/v1/endpoints";
import type { z } from "zod";
import type { Writable } from "../../http/write-json.ts";
import type { endpointStatus } from "./endpoint-fields.ts";

/** The statuses of an endpoint by their names in the REST contract. */
export const ENDPOINT_STATUSES = {
  active: EndpointStatus.ACTIVE,
  disabled: EndpointStatus.DISABLED,
} as const satisfies Record<z.output<typeof endpointStatus>, EndpointStatus>;

const STATUS_NAMES = new Map<EndpointStatus, string>(
  Object.entries(ENDPOINT_STATUSES).map(([name, status]) => [status, name]),
);

/** An endpoint as the contract shows it, with our additional members. */
export function endpointJson(endpoint: Endpoint): { readonly [field: string]: Writable } {
  return {
    id: endpoint.id,
    name: endpoint.name,
    url: endpoint.url,
    events: endpoint.events?.values ?? null,
    workflowIds: endpoint.workflowIds?.values ?? null,
    headers: endpoint.headers,
    description: endpoint.description ?? null,
    status: STATUS_NAMES.get(endpoint.status) ?? "unknown",
    disabledReason: endpoint.disabledReason ?? null,
    disabledAt: endpoint.disabledAt ?? null,
    consecutiveFailures: endpoint.consecutiveFailures,
    rateLimitPerSecond: endpoint.rateLimitPerSecond ?? null,
    oldSecretExpiresAt: endpoint.oldSecretExpiresAt ?? null,
    createdAt: endpoint.createdAt,
    updatedAt: endpoint.updatedAt,
  };
}

/** An endpoint with the secret that only this answer shows. */
export function endpointWithSecretJson({ endpoint, secret }: EndpointWithSecret): Writable {
  if (endpoint === undefined) throw new Error("A secret came without its endpoint.");
  return { ...endpointJson(endpoint), secret };
}
