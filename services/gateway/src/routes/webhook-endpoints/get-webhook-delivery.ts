import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { wholeDeliveryJson } from "./delivery-json.ts";
import { wholeDeliverySchema } from "./delivery-schema.ts";

export const getWebhookDelivery = route({
  method: "GET",
  path: "/webhook-endpoints/{id}/deliveries/{deliveryId}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get a delivery",
  description: [
    "The answer has the request as it was sent, without signatures and secrets, and each attempt with what came back.",
    "Of a receiver's answer the first 4 KiB are kept.",
  ],
  params: { id: "The endpoint's id.", deliveryId: "The delivery's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The delivery; signatures and values of custom headers are hidden.",
      data: wholeDeliverySchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ webhookEndpoints, call }, { params }) => {
    const { id: endpointId, deliveryId } = params;
    const delivery = await webhookEndpoints.getDelivery({ endpointId, deliveryId }, call);
    return { status: 200, data: wholeDeliveryJson(delivery) };
  },
});
