import type {
  ListEventTypesRequest,
  ListEventTypesResponse,
} from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { EVENT_TYPES } from "../event-types/event-types.ts";

/** The types of events that endpoints can receive. */
export function listEventTypes(): UnaryMethod<ListEventTypesRequest, ListEventTypesResponse> {
  const eventTypes = EVENT_TYPES.map(({ type, description, schema, example }) => ({
    type,
    description,
    schemaJson: JSON.stringify(schema),
    exampleJson: JSON.stringify(example),
  }));
  return rpc({ scopes: "workflows:read", handler: () => Promise.resolve({ eventTypes }) });
}
