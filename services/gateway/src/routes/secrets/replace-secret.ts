import { AppError } from "@workflow/errors";
import { NO_QUERY, route } from "../../route.ts";
import { otherSecret, requireFields } from "./secret-fields.ts";
import { secretJson } from "./secret-json.ts";
import { isArchived } from "./secret-workflow.ts";
import { secretSchema } from "./secret-schema.ts";

export const replaceSecret = route({
  method: "PUT",
  path: "/workflows/{workflowId}/secrets/{key}",
  scope: "secrets:write",
  bucket: "write",
  audit: "secret.replaced",
  summary: "Replace the value of a secret",
  description: [
    "Later runs get the new value, and the one before is gone.",
    "The key has to exist, else NOT_FOUND.",
    "Replacing it again by the same is fine.",
  ],
  params: { workflowId: "The workflow's id.", key: "The secret's key." },
  query: NO_QUERY,
  body: { schema: otherSecret },
  responses: { 200: { description: "The secret, without its value.", data: secretSchema } },
  errors: ["NOT_FOUND", "VALIDATION_ERROR"],
  handler: async (context, { params, body }) => {
    const fields = requireFields(body, ["value"]);
    if (await isArchived(context, params.workflowId)) {
      throw new AppError("NOT_FOUND", "Secret not found");
    }
    const secret = await context.secrets.replaceSecret({ ...params, ...fields }, context.call);
    return { status: 200, data: secretJson(secret) };
  },
});
