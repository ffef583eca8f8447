import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { endpointWithSecretJson } from "./endpoint-json.ts";

const OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;

export const rotateWebhookSecret = route({
  method: "POST",
  path: "/webhook-endpoints/{id}/rotate-secret",
  scope: "workflows:write",
  bucket: "write",
  audit: "webhook_endpoint.secret_rotated",
  summary: "Give a webhook endpoint a new secret; the one before signs too for the overlap",
  params: { id: "The endpoint's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      overlapSeconds: z
        .number()
        .refine(
          (seconds) => Number.isInteger(seconds) && seconds >= 0 && seconds <= OVERLAP_MAX_SECONDS,
          `must be a whole number from 0 to ${OVERLAP_MAX_SECONDS}`,
        )
        .nullish()
        .describe("0 to 604,800; 24 hours by default."),
    }),
    optional: true,
  },
  responses: { 200: "The endpoint and its new secret." },
  handler: async ({ webhookEndpoints, call }, { params, body }) => {
    const rotated = await webhookEndpoints.rotateSecret(
      { endpointId: params.id, overlapSeconds: body.overlapSeconds ?? undefined },
      call,
    );
    return { status: 200, data: endpointWithSecretJson(rotated) };
  },
});
