import { z } from "zod";
import { templatable } from "../zod-messages.ts";
import type { ActionDefinition } from "./action.ts";
import { anyValue, text } from "./inputs.ts";

const INDENT_MAX = 10;

export const jsonParse: ActionDefinition = {
  id: "json.parse",
  title: "Parse JSON",
  description: "Reads a JSON text.",
  inputs: z.looseObject({ text: text("The JSON text") }),
  outputs: ["value"],
};

export const jsonStringify: ActionDefinition = {
  id: "json.stringify",
  title: "Write JSON",
  description: "Writes a value as JSON text.",
  inputs: z.looseObject({
    value: anyValue("The value to write"),
    indent: templatable(z.int().min(0).max(INDENT_MAX))
      .optional()
      .meta({ description: "The spaces that indent each level; none by default" }),
  }),
  outputs: ["text"],
};
