import { ifMatchOf } from "../../http/entity-tags.ts";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";

export const deleteWorkflow = route({
  method: "DELETE",
  path: "/workflows/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.archived",
  summary: "Archive a workflow. With If-Match only while the workflow has that ETag",
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "The workflow is archived." },
  handler: async ({ workflows, headers, call }, { params }) => {
    const ifMatch = ifMatchOf(headers);
    await workflows.archiveWorkflow({ workflowId: params.id, ifMatch }, call);
    return { status: 200, data: { deleted: true } };
  },
});
