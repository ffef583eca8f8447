import { rawOrNull } from "../../http/write-json.ts";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { EXPORT_FORMAT_VERSION } from "./export-format.ts";
import { workflowExportSchema } from "./workflow-schema.ts";

export const exportWorkflow = route({
  method: "GET",
  path: "/workflows/{id}/export",
  scope: "workflows:read",
  bucket: "read",
  summary: "Export a workflow",
  description: [
    "The document has what its author wrote: name, definition and canvas.",
    "It has no id, no status and no secret, so that POST /workflows/import takes it in any company or installation.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description:
        "What its author wrote; no ids, status or history, and no secrets, which are named only.",
      data: workflowExportSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ workflows, call }, { params }) => {
    const workflow = await workflows.getWorkflow({ workflowId: params.id }, call);
    return {
      status: 200,
      data: {
        formatVersion: EXPORT_FORMAT_VERSION,
        name: workflow.name,
        description: workflow.description ?? null,
        trigger: rawOrNull(workflow.triggerJson),
        steps: rawOrNull(workflow.stepsJson),
        inputSchema: rawOrNull(workflow.inputSchemaJson),
        outputSchema: rawOrNull(workflow.outputSchemaJson),
        settings: rawOrNull(workflow.settingsJson),
        canvasState: rawOrNull(workflow.canvas?.stateJson),
      },
    };
  },
});
