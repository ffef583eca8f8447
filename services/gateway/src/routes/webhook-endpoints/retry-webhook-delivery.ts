import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { deliveryJson } from "./delivery-json.ts";
import { deliverySchema } from "./delivery-schema.ts";

export const retryWebhookDelivery = route({
  method: "POST",
  path: "/webhook-endpoints/{id}/deliveries/{deliveryId}/retry",
  scope: "workflows:write",
  bucket: "write",
  audit: "webhook_delivery.retried",
  summary: "Queue a delivery again",
  description: [
    "The delivery is due at once, whatever has become of it; the receiver tells a repeat by the same event id.",
    "Tests are not repeated: INVALID_STATE.",
  ],
  params: { id: "The endpoint's id.", deliveryId: "The delivery's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    202: {
      description: "The delivery, which waits for its next attempt.",
      data: deliverySchema,
    },
  },
  errors: ["NOT_FOUND", "INVALID_STATE"],
  handler: async ({ webhookEndpoints, call }, { params }) => {
    const { id: endpointId, deliveryId } = params;
    const delivery = await webhookEndpoints.retryDelivery({ endpointId, deliveryId }, call);
    return { status: 202, data: deliveryJson(delivery) };
  },
});
