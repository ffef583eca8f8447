import type { SafeHttpClient } from "@workflow/http-client";
import { EndpointStatus as MessageStatus } from "@workflow/proto/webhooks/v1/endpoints";
import type {
  CreateEndpointRequest,
  Selection,
  UpdateEndpointRequest,
} from "@workflow/proto/webhooks/v1/endpoints";
import { checkHeaders } from "./custom-headers.ts";
import {
  checkDescription,
  checkEvents,
  checkName,
  checkRateLimit,
  checkWorkflowIds,
} from "./endpoint-fields.ts";
import { checkUrl } from "./endpoint-url.ts";
import type { EndpointPatch, NewEndpoint } from "../domain/endpoint.ts";
import { wrongField } from "./wrong-field.ts";

/**
 * The endpoint that a request asks for.
 *
 * @throws AppError BAD_REQUEST naming the field
 */
export function parseNewEndpoint(
  http: SafeHttpClient,
  request: CreateEndpointRequest,
): NewEndpoint {
  const { events, workflowIds, description, rateLimitPerSecond } = request;
  return {
    name: checkName(request.name),
    url: checkUrl(http, request.url),
    events: events === undefined ? null : checkEvents(events.values),
    workflowIds: workflowIds === undefined ? null : checkWorkflowIds(workflowIds.values),
    headers: checkHeaders(request.headers),
    description: description === undefined ? null : checkDescription(description),
    rateLimitPerSecond:
      rateLimitPerSecond === undefined ? null : checkRateLimit(rateLimitPerSecond),
  };
}

/**
 * The changes that a request asks for.
 *
 * @throws AppError BAD_REQUEST naming the field
 */
export function parsePatch(http: SafeHttpClient, request: UpdateEndpointRequest): EndpointPatch {
  const { name, url, events, workflowIds, headers, description, rateLimitPerSecond } = request;
  return {
    ...(name === undefined ? {} : { name: checkName(name) }),
    ...(url === undefined ? {} : { url: checkUrl(http, url) }),
    ...(events === undefined ? {} : { events: orAll(events, checkEvents) }),
    ...(workflowIds === undefined ? {} : { workflowIds: orAll(workflowIds, checkWorkflowIds) }),
    ...(headers === undefined ? {} : { headers: checkHeaders(headers.values) }),
    ...(description === undefined ? {} : { description: checkDescription(description) }),
    ...(rateLimitPerSecond === undefined
      ? {}
      : {
          rateLimitPerSecond: rateLimitPerSecond === 0 ? null : checkRateLimit(rateLimitPerSecond),
        }),
    ...parseStatus(request.status),
  };
}

function orAll(
  { values }: Selection,
  check: (values: readonly string[]) => readonly string[],
): readonly string[] | null {
  return values.length === 0 ? null : check(values);
}

function parseStatus(status: MessageStatus): Pick<EndpointPatch, "status"> {
  if (status === MessageStatus.UNSPECIFIED) return {};
  if (status === MessageStatus.ACTIVE) return { status: "active" };
  if (status === MessageStatus.DISABLED) return { status: "disabled" };
  throw wrongField("status", "must be active or disabled");
}
