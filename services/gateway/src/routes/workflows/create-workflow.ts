import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import {
  clearableFields,
  givenDescription,
  givenName,
  requiredFields,
  textUnlessNull,
} from "./definition-fields.ts";
import { workflowJson } from "./workflow-json.ts";
import { workflowSchema } from "./workflow-schema.ts";

export const createWorkflow = route({
  method: "POST",
  path: "/workflows",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.created",
  summary: "Create a workflow",
  description: [
    "The workflow is a draft of version 1 and does not run before it is activated.",
    "The whole definition is checked first: VALIDATION_ERROR has an entry in `details` for each problem, and nothing is stored.",
    "Steps may name secrets, connections and agents that are not there yet; a plan tells which are missing.",
    "Name, description and definition may have 1 MiB together.",
    "Each request makes a workflow, so a repeated one makes another.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        name: givenName,
        description: givenDescription,
        ...requiredFields,
        ...clearableFields,
      })
      .meta({ id: "NewWorkflow", description: "A workflow to be created." }),
  },
  responses: {
    201: {
      description: "The new workflow: draft, version 1.",
      data: workflowSchema,
      headers: ["ETag"],
    },
  },
  errors: ["VALIDATION_ERROR"],
  handler: async ({ workflows, call }, { body, rawJson }) => {
    const workflow = await workflows.createWorkflow(
      {
        name: body.name,
        description: body.description ?? undefined,
        triggerJson: rawJson("trigger") ?? "",
        stepsJson: rawJson("steps") ?? "",
        inputSchemaJson: textUnlessNull(rawJson("inputSchema")),
        outputSchemaJson: textUnlessNull(rawJson("outputSchema")),
        settingsJson: textUnlessNull(rawJson("settings")),
      },
      call,
    );
    return { status: 201, data: workflowJson(workflow), etag: workflow.etag };
  },
});
