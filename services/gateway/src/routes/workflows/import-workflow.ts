import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { jsonArray, jsonObject, workflowName } from "../fields.ts";
import { clearableFields, textUnlessNull } from "./definition-fields.ts";
import { EXPORT_FORMAT_VERSION } from "./export-format.ts";
import { workflowJson } from "./workflow-json.ts";

/** Definition and canvas may each have 1 MiB; an export has both. */
const BODY_BYTES_MAX = 2 * 1024 * 1024 + 64 * 1024;

export const importWorkflow = route({
  method: "POST",
  path: "/workflows/import",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.imported",
  summary: "Create a workflow from an exported one",
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      formatVersion: z.literal(EXPORT_FORMAT_VERSION),
      name: workflowName,
      description: z.string().nullish(),
      trigger: jsonObject,
      steps: jsonArray,
      ...clearableFields,
      canvasState: jsonObject.nullish(),
    }),
    bytesMax: BODY_BYTES_MAX,
  },
  responses: {
    201: "The new workflow: draft, version 1; and in requires what it needs before it can run.",
  },
  handler: async ({ workflows, call }, { body, rawJson }) => {
    const { workflow, secretKeys, connectionProviders, agentIds } = await workflows.importWorkflow(
      {
        content: {
          name: body.name,
          description: body.description ?? undefined,
          triggerJson: rawJson("trigger") ?? "",
          stepsJson: rawJson("steps") ?? "",
          inputSchemaJson: textUnlessNull(rawJson("inputSchema")),
          outputSchemaJson: textUnlessNull(rawJson("outputSchema")),
          settingsJson: textUnlessNull(rawJson("settings")),
        },
        canvasStateJson: textUnlessNull(rawJson("canvasState")),
      },
      call,
    );
    if (workflow === undefined) throw new Error("ImportWorkflow answered without a workflow.");
    return {
      status: 201,
      data: {
        ...workflowJson(workflow),
        requires: { secrets: secretKeys, connections: connectionProviders, agents: agentIds },
      },
      etag: workflow.etag,
    };
  },
});
