import { DeliveryStatus } from "@workflow/proto/webhooks/v1/deliveries";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { DELIVERY_STATUSES, deliveryJson, deliveryStatus } from "./delivery-json.ts";
import { eventTypeName } from "./endpoint-fields.ts";
import { deliverySchema } from "./delivery-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

export const listWebhookDeliveries = route({
  method: "GET",
  path: "/webhook-endpoints/{id}/deliveries",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the deliveries of a webhook endpoint",
  description: [
    "The newest delivery comes first, without request and attempts.",
    "With a filter a page may be short although there are more; `meta.hasMore` counts.",
  ],
  params: { id: "The endpoint's id." },
  query: z.object({
    status: deliveryStatus.optional().describe("Only deliveries of this status."),
    eventType: eventTypeName
      .default("")
      .describe("Only deliveries of events of this type; empty: of all."),
    ...pageFields,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of deliveries; there is more as long as meta.hasMore says so.",
      data: z.array(deliverySchema),
      meta: pageMetaSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ webhookEndpoints, call }, { params, query }) => {
    const { status, eventType, limit, cursor } = query;
    const page = await webhookEndpoints.listDeliveries(
      {
        endpointId: params.id,
        status: status === undefined ? DeliveryStatus.UNSPECIFIED : DELIVERY_STATUSES[status],
        eventType,
        page: { limit, cursor },
      },
      call,
    );
    return { status: 200, data: page.deliveries.map(deliveryJson), meta: pageMeta(page.page) };
  },
});
