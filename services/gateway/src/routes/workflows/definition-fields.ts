import { z } from "zod";
import { workflowName } from "../fields.ts";
import { definitionFields } from "./definition-schema.ts";

const { trigger, steps, jsonSchema, settings } = definitionFields;

/** The field `name` of a workflow's body. */
export const givenName = workflowName
  .describe("1 to 255 characters, kept as they are sent.")
  .meta({ minLength: 1, maxLength: 255, examples: ["Greet customers"] });

/** The field `description` of a workflow's body. */
export const givenDescription = z
  .string()
  .nullish()
  .describe("For people; null stands for none.")
  .meta({ examples: ["Sends a greeting to every new customer."] });

/** The fields that every workflow has. The workflows service checks their content. */
export const requiredFields = {
  trigger: trigger.describe("What starts the workflow."),
  steps: steps.describe(
    "What the workflow does, in this order; 1,000 steps at most, nested ones included. Steps have to be complete.",
  ),
};

/** The optional fields of a workflow, in bodies of create and update; null means none. */
export const clearableFields = {
  inputSchema: jsonSchema.nullish().describe("What a run's input has to fit; null: any object."),
  outputSchema: jsonSchema.nullish().describe("What a run's output has to fit; null: anything."),
  settings: settings.nullish().describe("How runs are executed; null: the defaults."),
};

/** The reason for a version. */
export const changeSummary = z
  .string()
  .nullish()
  .describe("Why the change is made, for the version's record; at most 10,000 characters.")
  .meta({ examples: ["Greets by first name"] });

/** The JSON text of a member that may be null; null and absent are both undefined. */
export function textUnlessNull(text: string | undefined): string | undefined {
  return text === "null" ? undefined : text;
}
