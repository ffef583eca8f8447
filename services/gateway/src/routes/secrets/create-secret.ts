import { AppError } from "@workflow/errors";
import { NO_QUERY, route } from "../../route.ts";
import { newSecret, requireFields } from "./secret-fields.ts";
import { secretJson } from "./secret-json.ts";
import { isArchived } from "./secret-workflow.ts";
import { secretSchema } from "./secret-schema.ts";

export const createSecret = route({
  method: "POST",
  path: "/workflows/{workflowId}/secrets",
  scope: "secrets:write",
  bucket: "write",
  audit: "secret.created",
  summary: "Store a secret for a workflow",
  description: [
    "The value is encrypted, and no answer, log or record of a run shows it again.",
    "Steps name it as `{{secrets.KEY}}`; with `allowedHosts` they can send it to those hosts alone.",
    "A key that the workflow has already is CONFLICT; its value is replaced with PUT.",
    "A key of another form, or an empty value, is VALIDATION_ERROR.",
    "A workflow has at most 1,000 secrets; one more is BAD_REQUEST.",
  ],
  params: { workflowId: "The workflow's id." },
  query: NO_QUERY,
  body: { schema: newSecret },
  responses: { 200: { description: "The secret, without its value.", data: secretSchema } },
  errors: ["NOT_FOUND", "VALIDATION_ERROR", "CONFLICT"],
  handler: async (context, { params, body }) => {
    const fields = requireFields(body, ["key", "value"]);
    if (await isArchived(context, params.workflowId)) {
      throw new AppError("BAD_REQUEST", "The workflow is archived; it keeps no secrets.");
    }
    const secret = await context.secrets.createSecret({ ...params, ...fields }, context.call);
    return { status: 200, data: secretJson(secret) };
  },
});
