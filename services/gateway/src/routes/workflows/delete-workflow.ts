import { ifMatchOf } from "../../http/entity-tags.ts";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteWorkflow = route({
  method: "DELETE",
  path: "/workflows/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.archived",
  summary: "Archive a workflow",
  description: [
    "The workflow is kept with status archived: its id still reads it, and it starts no more runs.",
    "Its schedule and its secrets are deleted; its runs stay.",
    "There is no way back; a copy can be made with clone.",
    "Archiving it again changes nothing and answers the same.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The workflow is archived.", data: deletedSchema } },
  errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
  handler: async ({ workflows, headers, call }, { params }) => {
    const ifMatch = ifMatchOf(headers);
    await workflows.archiveWorkflow({ workflowId: params.id, ifMatch }, call);
    return { status: 200, data: { deleted: true } };
  },
});
