import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { secretJson } from "./secret-json.ts";
import { isArchived } from "./secret-workflow.ts";
import { secretSchema } from "./secret-schema.ts";
import { z } from "zod";

export const listSecrets = route({
  method: "GET",
  path: "/workflows/{workflowId}/secrets",
  scope: "secrets:read",
  bucket: "read",
  summary: "List the secrets of a workflow",
  description: [
    "The values are never shown: `maskedValue` has the last characters at most.",
    "`lastUsedAt` says when a run last used it.",
  ],
  params: { workflowId: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The secrets in the order of their keys.",
      data: z.array(secretSchema),
    },
  },
  errors: ["NOT_FOUND"],
  handler: async (context, { params }) => {
    if (await isArchived(context, params.workflowId)) return { status: 200, data: [] };
    const { secrets } = await context.secrets.listSecrets(params, context.call);
    return { status: 200, data: secrets.map(secretJson) };
  },
});
