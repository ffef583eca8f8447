import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { jsonArray, jsonObject, workflowName } from "../fields.ts";
import { clearableFields, textUnlessNull } from "./definition-fields.ts";
import { workflowJson } from "./workflow-json.ts";

export const createWorkflow = route({
  method: "POST",
  path: "/workflows",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.created",
  summary: "Create a workflow",
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      name: workflowName,
      description: z.string().nullish(),
      trigger: jsonObject,
      steps: jsonArray,
      ...clearableFields,
    }),
  },
  responses: { 201: "The new workflow: draft, version 1." },
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
