import { EndpointStatus as MessageStatus } from "@workflow/proto/webhooks/v1/endpoints";
import type { Endpoint, Selection } from "@workflow/proto/webhooks/v1/endpoints";
import type { EndpointStatus } from "../domain/endpoint.ts";
import type { EndpointRow } from "../store/endpoints.ts";

const MESSAGE_STATUS = {
  active: MessageStatus.ACTIVE,
  disabled: MessageStatus.DISABLED,
} as const satisfies Record<EndpointStatus, MessageStatus>;

/** An endpoint as callers see it, with its headers and without its secret. */
export function toEndpointMessage(
  row: EndpointRow,
  headers: Readonly<Record<string, string>>,
): Endpoint {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    events: toSelection(row.events),
    workflowIds: toSelection(row.workflowIds),
    headers: { ...headers },
    description: row.description ?? undefined,
    status: MESSAGE_STATUS[row.status],
    disabledReason: row.disabledReason ?? undefined,
    disabledAt: row.disabledAt ?? undefined,
    consecutiveFailures: row.consecutiveFailures,
    rateLimitPerSecond: row.rateLimitPerSecond ?? undefined,
    oldSecretExpiresAt: row.oldSecretExpiresAt ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

function toSelection(values: readonly string[] | null): Selection | undefined {
  return values === null ? undefined : { values: [...values] };
}
