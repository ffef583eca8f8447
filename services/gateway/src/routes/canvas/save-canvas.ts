import { z } from "zod";
import { ifMatchOf } from "../../http/entity-tags.ts";
import { NO_QUERY, route } from "../../route.ts";
import { jsonArray, jsonObject } from "../fields.ts";
import { canvasFields } from "../workflows/workflow-json.ts";

export const saveCanvas = route({
  method: "PATCH",
  path: "/workflows/{id}/canvas",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.canvas_saved",
  summary:
    "Save the visual editor's state, with steps and trigger where they are given; an active workflow then gets a new version",
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  // What is inside is the workflows service's to judge.
  body: {
    schema: z.object({
      canvasState: jsonObject,
      steps: jsonArray.optional(),
      triggerConfig: jsonObject.optional(),
    }),
  },
  responses: { 200: "The state as it was saved." },
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
