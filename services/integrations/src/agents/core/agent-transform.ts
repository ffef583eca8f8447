import { z } from "zod";
import { exactly, texts } from "./answer-schema.ts";
import { defineCoreAgent } from "./core-agent.ts";
import { embedSchema } from "./embed-schema.ts";
import { anyObject, anyValue, customInstructions, statements } from "./variables.ts";

const variables = z.object({
  data: anyValue,
  sourceSchema: anyObject.optional(),
  targetSchema: anyObject.optional(),
  mappingRules: statements.optional(),
  defaultValues: anyObject.optional(),
  customInstructions: customInstructions.optional(),
});

const ANSWER = exactly({
  data: {},
  unmapped: texts("Paths of members of the source that have no place in the data"),
  warnings: texts("What could not be brought over as it was"),
});

/** Brings data into another form. */
export const agentTransform = defineCoreAgent({
  id: "agent_transform",
  name: "Data transformation",
  description:
    "Brings data into another form, by a target schema, mapping rules and defaults. Tells what it could not bring over.",
  type: "transform",
  temperature: 0,
  maxTokens: 16_384,
  version: 1,
  variables,
  outputSchemaOf: ({ targetSchema }) =>
    targetSchema === undefined ? ANSWER : embedSchema(ANSWER, targetSchema, "targetSchema"),
});
