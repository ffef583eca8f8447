import { z } from "zod";
import { timeText, uuidText } from "../answer-schemas.ts";

/*
 * The state of the visual editor. The workflows service checks it, and keeps members that are not known
 * here.
 */

const place = { x: z.number(), y: z.number() };

const blockSchema = z
  .looseObject({
    id: z.string().describe("The key under which the block stands."),
    type: z.string().describe("The block's type in the catalog."),
    name: z.string(),
    position: z.looseObject(place),
    subBlocks: z.looseObject({}).describe("The values of the block's fields."),
    outputs: z.looseObject({}),
    enabled: z.boolean(),
    horizontalHandles: z.boolean(),
  })
  .meta({
    id: "CanvasBlock",
    description: "A block as it is drawn.",
    examples: [
      {
        id: "greet",
        type: "transform",
        name: "Greet",
        position: { x: 0, y: 120 },
        subBlocks: {},
        outputs: {},
        enabled: true,
        horizontalHandles: true,
      },
    ],
  });

const parallelSchema = z
  .looseObject({
    id: z.string().describe("The key under which the entry stands."),
    nodes: z.array(z.string()).describe("Ids of the blocks inside."),
    enabled: z.boolean(),
  })
  .meta({ examples: [{ id: "both", nodes: ["greet"], enabled: true }] });

/** The blocks and edges that the editor draws. */
export const canvasStateSchema = z
  .looseObject({
    blocks: z.record(z.string(), blockSchema).describe("By their ids."),
    edges: z.array(z.looseObject({})).describe("What connects the blocks."),
    loops: z.record(z.string(), z.looseObject({})),
    parallels: z.record(z.string(), parallelSchema).describe("By their ids."),
    viewport: z
      .looseObject({
        x: z.number().optional(),
        y: z.number().optional(),
        zoom: z.number().optional(),
      })
      .nullish()
      .describe("What of the drawing is in sight."),
  })
  .meta({
    id: "CanvasState",
    description:
      "What the visual editor draws: at most 1 MiB of JSON; members that are not known are kept.",
    examples: [{ blocks: {}, edges: [], loops: {}, parallels: {} }],
  });

/** The members of a workflow about its canvas. */
export const canvasFieldSchemas = {
  canvasState: canvasStateSchema,
  isVisual: z.literal(true).describe("A workflow with a canvas is a visual one."),
  lastSavedAt: timeText.describe("When the canvas was last saved."),
  lastModifiedAt: timeText.describe(
    "When canvas or content last changed: later than lastSavedAt where not the editor did it.",
  ),
};

/** The answer to a save. */
export const savedCanvasSchema = z
  .strictObject({
    id: uuidText.describe("The workflow's id."),
    ...canvasFieldSchemas,
    updatedAt: timeText.describe("When the workflow was last changed."),
  })
  .meta({ id: "SavedCanvas", description: "The visual editor's state as it was saved." });
