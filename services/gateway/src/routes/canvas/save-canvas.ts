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
  summary:
    "Save the visual editor's state, with steps and trigger where they are given; an active workflow then gets a new version",
  description:
    "With steps, the save is refused with CONFLICT when status, version or steps changed while it was under way: reload, reconcile and save again. What an active workflow gets has to be complete and valid.",
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  // What is inside is the workflows service's to judge.
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
