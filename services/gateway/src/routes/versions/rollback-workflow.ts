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
  summary: "Go back to an older version of a workflow",
  description: [
    "A new version is made with the content of the older one; the status stays, and no version is lost.",
    "The older version has to be valid still where the workflow is active, else VALIDATION_ERROR.",
    "Without `changeSummary` the record says to which version it went back.",
    "An unknown version is NOT_FOUND; changes that keep coming in between are CONFLICT.",
  ],
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
