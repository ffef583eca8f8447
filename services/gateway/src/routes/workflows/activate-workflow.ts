import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { workflowStatusName } from "./workflow-json.ts";

export const activateWorkflow = route({
  method: "POST",
  path: "/workflows/{id}/activate",
  scope: "workflows:write",
  bucket: "write",
  summary: "Make a draft or paused workflow active",
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "The workflow is active and can be run." },
  handler: async ({ workflows, call }, { params }) => {
    const workflow = await workflows.activateWorkflow({ workflowId: params.id }, call);
    return {
      status: 200,
      data: { id: workflow.id, status: workflowStatusName(workflow.status) },
    };
  },
});
