import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { workflowStatusName } from "./workflow-json.ts";
import { pausedSchema } from "./workflow-schema.ts";

export const pauseWorkflow = route({
  method: "POST",
  path: "/workflows/{id}/pause",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.paused",
  summary: "Pause an active workflow",
  description: [
    "The workflow starts no runs until it is activated again, and its schedule is disabled.",
    "Runs that have begun go on to their end.",
    "From another status it is BAD_REQUEST with `details` {currentStatus, targetStatus, allowedTransitions}.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The workflow is paused: nothing starts it any more.",
      data: pausedSchema,
      headers: ["ETag"],
    },
  },
  errors: ["NOT_FOUND", "CONFLICT"],
  handler: async ({ workflows, call }, { params }) => {
    const workflow = await workflows.pauseWorkflow({ workflowId: params.id }, call);
    return {
      status: 200,
      data: { id: workflow.id, status: workflowStatusName(workflow.status) },
      etag: workflow.etag,
    };
  },
});
