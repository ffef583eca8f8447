import { AppError } from "@workflow/errors";
import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { allowedHosts, requireFields, secretValue } from "./secret-fields.ts";
import { secretJson } from "./secret-json.ts";
import { isArchived } from "./secret-workflow.ts";

export const replaceSecret = route({
  method: "PUT",
  path: "/workflows/{workflowId}/secrets/{key}",
  scope: "secrets:write",
  bucket: "write",
  audit: "secret.replaced",
  summary: "Give a secret another value",
  params: { workflowId: "The workflow's id.", key: "The secret's key." },
  query: NO_QUERY,
  body: { schema: z.object({ value: secretValue, allowedHosts }) },
  responses: { 200: "The secret, without its value." },
  handler: async (context, { params, body }) => {
    const fields = requireFields(body, ["value"]);
    if (await isArchived(context, params.workflowId)) {
      throw new AppError("NOT_FOUND", "Secret not found");
    }
    const secret = await context.secrets.replaceSecret({ ...params, ...fields }, context.call);
    return { status: 200, data: secretJson(secret) };
  },
});
