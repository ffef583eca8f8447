import { AppError } from "@workflow/errors";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { isArchived } from "./secret-workflow.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteSecret = route({
  method: "DELETE",
  path: "/workflows/{workflowId}/secrets/{key}",
  scope: "secrets:write",
  bucket: "write",
  audit: "secret.deleted",
  summary: "Delete a secret",
  description: [
    "The value is gone at once.",
    "Steps that name it stay as they are: later runs fail with a missing-secret error until it is made again or the workflow changed.",
  ],
  params: { workflowId: "The workflow's id.", key: "The secret's key." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The secret is deleted.", data: deletedSchema } },
  errors: ["NOT_FOUND"],
  handler: async (context, { params }) => {
    if (await isArchived(context, params.workflowId)) {
      throw new AppError("NOT_FOUND", "Secret not found");
    }
    await context.secrets.deleteSecret(params, context.call);
    return { status: 200, data: { deleted: true } };
  },
});
