import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { givenName } from "./definition-fields.ts";
import { workflowJson } from "./workflow-json.ts";
import { workflowSchema } from "./workflow-schema.ts";

export const cloneWorkflow = route({
  method: "POST",
  path: "/workflows/{id}/clone",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.cloned",
  summary: "Copy a workflow",
  description: [
    "The copy is a draft of version 1, whatever the status of the original, and says so in `clonedFrom`.",
    "Definition and canvas are copied; secrets, schedule, versions and runs are not.",
  ],
  params: { id: "The id of the workflow to copy." },
  query: NO_QUERY,
  body: { schema: z.object({ name: givenName.describe("The name of the copy.") }) },
  responses: {
    201: { description: "The copy: draft, version 1.", data: workflowSchema, headers: ["ETag"] },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ workflows, call }, { params, body: { name } }) => {
    const workflow = await workflows.cloneWorkflow({ workflowId: params.id, name }, call);
    return { status: 201, data: workflowJson(workflow), etag: workflow.etag };
  },
});
