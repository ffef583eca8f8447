import { EndpointStatus } from "@workflow/proto/webhooks/v1/endpoints";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageFields } from "../fields.ts";
import { pageMeta } from "../page-meta.ts";
import { endpointStatus } from "./endpoint-fields.ts";
import { ENDPOINT_STATUSES, endpointJson } from "./endpoint-json.ts";
import { endpointSchema } from "./endpoint-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

export const listWebhookEndpoints = route({
  method: "GET",
  path: "/webhook-endpoints",
  scope: "workflows:read",
  bucket: "read",
  summary: "List webhook endpoints",
  description: [
    "The newest endpoint comes first, without secrets.",
    "A disabled one says why in `disabledReason`.",
  ],
  params: {},
  query: z.object({
    status: endpointStatus.optional().describe("Only endpoints of this status."),
    ...pageFields,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "A page of endpoints, without their secrets.",
      data: z.array(endpointSchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ webhookEndpoints, call }, { query }) => {
    const { status, limit, cursor } = query;
    const page = await webhookEndpoints.listEndpoints(
      {
        status: status === undefined ? EndpointStatus.UNSPECIFIED : ENDPOINT_STATUSES[status],
        page: { limit, cursor },
      },
      call,
    );
    return { status: 200, data: page.endpoints.map(endpointJson), meta: pageMeta(page.page) };
  },
});
