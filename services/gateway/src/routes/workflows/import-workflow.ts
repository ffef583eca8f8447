import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { canvasStateSchema } from "../canvas/canvas-schema.ts";
import { jsonObject } from "../fields.ts";
import { shownAsComponent } from "../shown-as.ts";
import {
  clearableFields,
  givenDescription,
  givenName,
  requiredFields,
  textUnlessNull,
} from "./definition-fields.ts";
import { EXPORT_FORMAT_VERSION } from "./export-format.ts";
import { workflowJson } from "./workflow-json.ts";
import { importedWorkflowSchema } from "./workflow-schema.ts";

/** Definition and canvas may have 1 MiB each, and an export contains both. */
const BODY_BYTES_MAX = 2 * 1024 * 1024 + 64 * 1024;

export const importWorkflow = route({
  method: "POST",
  path: "/workflows/import",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.imported",
  summary: "Import a workflow",
  description: [
    "The document is what GET /workflows/{id}/export gives, of this or another installation.",
    "A draft of version 1 is made, after the same checks as of a new workflow.",
    "`requires` says which secrets, connections and agents it names and has to find here.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        formatVersion: z.literal(EXPORT_FORMAT_VERSION).describe("The form of the document."),
        name: givenName,
        description: givenDescription,
        ...requiredFields,
        ...clearableFields,
        canvasState: shownAsComponent(jsonObject, canvasStateSchema)
          .nullish()
          .describe("The visual editor's state, at most 1 MiB; null stands for none."),
      })
      .meta({ id: "WorkflowImport", description: "An exported workflow." }),
    bytesMax: BODY_BYTES_MAX,
  },
  responses: {
    201: {
      description:
        "The new workflow: draft, version 1; and in requires what it needs before it can run.",
      data: importedWorkflowSchema,
      headers: ["ETag"],
    },
  },
  errors: ["VALIDATION_ERROR"],
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
