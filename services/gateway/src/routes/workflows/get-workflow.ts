import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { workflowSchema } from "./workflow-schema.ts";
import { workflowJson } from "./workflow-json.ts";

export const getWorkflow = route({
  method: "GET",
  path: "/workflows/{id}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get a workflow",
  description: [
    "The answer has the steps of the current version and, where there is one, the state of the visual editor.",
    "An archived workflow is still found by its id.",
    "The `ETag` changes with every change and is what `If-Match` takes.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The workflow with its steps.", data: workflowSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ workflows, call }, { params }) => {
    const workflow = await workflows.getWorkflow({ workflowId: params.id }, call);
    return { status: 200, data: workflowJson(workflow), etag: workflow.etag };
  },
});
