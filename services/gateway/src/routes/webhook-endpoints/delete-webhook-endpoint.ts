import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteWebhookEndpoint = route({
  method: "DELETE",
  path: "/webhook-endpoints/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "webhook_endpoint.deleted",
  summary: "Delete a webhook endpoint",
  description: [
    "The endpoint and its deliveries are gone, those that were still pending included.",
    "A delivery that is on its way at that moment may still arrive.",
  ],
  params: { id: "The endpoint's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The endpoint is gone.",
      data: deletedSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ webhookEndpoints, call }, { params }) => {
    await webhookEndpoints.deleteEndpoint({ endpointId: params.id }, call);
    return { status: 200, data: { deleted: true } };
  },
});
