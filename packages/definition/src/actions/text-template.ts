import { z } from "zod";
import { templatable } from "../zod-messages.ts";
import type { ActionDefinition } from "./action.ts";
import { text } from "./inputs.ts";

/** Fills in a text. The step checks the placeholders, as only the step knows where their values are. */
export const textTemplate: ActionDefinition = {
  id: "text.template",
  title: "Fill in a text",
  description:
    "Replaces the placeholders of a text. {{name}} and {{a.b[0]}} stand for members of values; {{input.…}}, {{steps.…}} and the other roots of templates mean what they mean everywhere.",
  inputs: z.looseObject({
    template: text("The text with placeholders"),
    values: templatable(z.record(z.string(), z.unknown()))
      .optional()
      .meta({ description: "What placeholders stand for, by name" }),
  }),
  outputs: ["text"],
  textTemplate: { template: "template", values: "values" },
};
