import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { workflowJson } from "../workflows/workflow-json.ts";
import { toVersion } from "./version-number.ts";
import { changeSummary } from "../workflows/definition-fields.ts";
import { rolledBackSchema } from "../workflows/workflow-schema.ts";

export const rollbackWorkflow = route({
  method: "POST",
  path: "/workflows/{id}/versions/{version}/rollback",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.rolled_back",
  summary: "Make a new version with the content of an older one; the status stays",
  description:
    "The version of an active workflow has to be valid still. Without a summary the record says to which version it went back.",
  params: { id: "The workflow's id.", version: "The number of the version to go back to." },
  query: NO_QUERY,
  body: { optional: true, schema: z.object({ changeSummary }) },
  responses: {
    200: {
      description: "The workflow with its new version.",
      data: rolledBackSchema,
      headers: ["ETag"],
    },
  },
  errors: ["NOT_FOUND", "VALIDATION_ERROR", "CONFLICT"],
  handler: async ({ workflows, call }, { params, body }) => {
    const { workflow, rolledBackFrom, rolledBackTo } = await workflows.rollbackWorkflow(
      {
        workflowId: params.id,
        version: toVersion(params.version),
        changeSummary: body.changeSummary ?? undefined,
      },
      call,
    );
    if (workflow === undefined) throw new Error("RollbackWorkflow answered without a workflow.");
    return {
      status: 200,
      data: { ...workflowJson(workflow), rolledBackFrom, rolledBackTo },
      etag: workflow.etag,
    };
  },
});
