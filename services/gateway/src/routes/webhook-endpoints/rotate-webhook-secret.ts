import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { endpointWithSecretJson } from "./endpoint-json.ts";
import { endpointWithSecretSchema } from "./endpoint-schema.ts";

const OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;

export const rotateWebhookSecret = route({
  method: "POST",
  path: "/webhook-endpoints/{id}/rotate-secret",
  scope: "workflows:write",
  bucket: "write",
  audit: "webhook_endpoint.secret_rotated",
  summary: "Replace the secret of a webhook endpoint",
  description: [
    "The new secret is shown here only.",
    "For the overlap, 24 hours unless said otherwise, deliveries have a signature of each secret, so that a receiver can change over.",
    "`overlapSeconds: 0` ends the old secret at once.",
  ],
  params: { id: "The endpoint's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        overlapSeconds: z
          .number()
          .refine(
            (seconds) =>
              Number.isInteger(seconds) && seconds >= 0 && seconds <= OVERLAP_MAX_SECONDS,
            `must be a whole number from 0 to ${OVERLAP_MAX_SECONDS}`,
          )
          .meta({ override: { type: "integer", minimum: 0, maximum: OVERLAP_MAX_SECONDS } })
          .nullish()
          .describe(
            "How long the secret before signs, too, in seconds: 0 to 604,800; 24 hours by default.",
          )
          .meta({ examples: [86_400] }),
      })
      .meta({ id: "SecretRotation", description: "How a webhook endpoint gets a new secret." }),
    optional: true,
  },
  responses: {
    200: {
      description: "The endpoint and its new secret.",
      data: endpointWithSecretSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ webhookEndpoints, call }, { params, body }) => {
    const rotated = await webhookEndpoints.rotateSecret(
      { endpointId: params.id, overlapSeconds: body.overlapSeconds ?? undefined },
      call,
    );
    return { status: 200, data: endpointWithSecretJson(rotated) };
  },
});
