import { z } from "zod";
import { ifMatchOf } from "../../http/entity-tags.ts";
import { NO_QUERY, route } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { shownAsComponent } from "../shown-as.ts";
import { definitionFields } from "../workflows/definition-schema.ts";
import { canvasFields } from "../workflows/workflow-json.ts";
import { canvasStateSchema, savedCanvasSchema } from "./canvas-schema.ts";

export const saveCanvas = route({
  method: "PATCH",
  path: "/workflows/{id}/canvas",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.canvas_saved",
  summary: "Save the canvas of a workflow",
  description: [
    "The state of the visual editor is stored as it is; steps and trigger change only where they are given.",
    "Unfinished loops and parallels may be saved while the workflow is not active.",
    "An active workflow gets a new version with them, which has to be complete and valid.",
    "A save with steps is refused with CONFLICT when status, version or steps changed meanwhile: reload, reconcile and save again.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  // The workflows service checks the content.
  body: {
    schema: z
      .object({
        canvasState: shownAsComponent(jsonObject, canvasStateSchema).describe(
          "The editor's state, at most 1 MiB.",
        ),
        steps: definitionFields.steps
          .optional()
          .describe(
            "The steps that the drawing stands for; left out, they stay. Loops and parallel steps of a workflow that is not active may still be empty.",
          ),
        triggerConfig: definitionFields.trigger
          .optional()
          .describe("The trigger that the drawing stands for; left out, it stays."),
      })
      .meta({ id: "CanvasSave", description: "The visual editor's state to be saved." }),
  },
  responses: {
    200: { description: "The state as it was saved.", data: savedCanvasSchema, headers: ["ETag"] },
  },
  errors: ["NOT_FOUND", "VALIDATION_ERROR", "CONFLICT", "PRECONDITION_FAILED"],
  handler: async ({ workflows, headers, call }, { params, rawJson }) => {
    const canvas = await workflows.saveCanvas(
      {
        workflowId: params.id,
        canvasStateJson: rawJson("canvasState") ?? "",
        stepsJson: rawJson("steps"),
        triggerJson: rawJson("triggerConfig"),
        ifMatch: ifMatchOf(headers),
      },
      call,
    );
    const { workflowId: id, updatedAt, etag } = canvas;
    return { status: 200, data: { id, ...canvasFields(canvas), updatedAt }, etag };
  },
});
