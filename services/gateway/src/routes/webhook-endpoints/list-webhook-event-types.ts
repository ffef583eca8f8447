import { RawJson } from "../../http/write-json.ts";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { eventTypeInfoSchema } from "./endpoint-schema.ts";
import { z } from "zod";

export const listWebhookEventTypes = route({
  method: "GET",
  path: "/webhook-event-types",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the types of events",
  description: [
    "These are the events that webhook endpoints can get, each with the JSON Schema and an example of its body.",
    "The list is the same for all companies.",
  ],
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "Each type with the JSON Schema (2020-12) of its deliveries and an example.",
      data: z.array(eventTypeInfoSchema),
    },
  },
  handler: async ({ webhookEndpoints, call }) => {
    const { eventTypes } = await webhookEndpoints.listEventTypes({}, call);
    return {
      status: 200,
      data: eventTypes.map(({ type, description, schemaJson, exampleJson }) => ({
        type,
        description,
        schema: new RawJson(schemaJson),
        example: new RawJson(exampleJson),
      })),
    };
  },
});
