import jsonata from "jsonata";
import { z } from "zod";
import { isJsonObject } from "../json.ts";
import { DEFINITION_LIMITS } from "../limits.ts";
import { fieldsOf } from "../step.ts";
import { compileOptional, compileTemplates } from "../template.ts";
import type { StepType } from "./step-type.ts";

const configSchema = z
  .looseObject({
    mapping: z
      .unknown()
      .optional()
      .meta({ description: "Any JSON value with templates: the result" }),
    // Braces in JSONata are its own.
    expression: z
      .string()
      .min(1)
      .max(DEFINITION_LIMITS.expressionCharsMax)
      .optional()
      .meta({ description: "JSONata; templates are not evaluated in it" }),
    input: z.unknown().optional().meta({
      description:
        "What the expression sees; where none is given, {input, steps, trigger, run, loop}",
    }),
  })
  .refine((config) => (config.mapping === undefined) !== (config.expression === undefined), {
    error: "a transform has exactly one of mapping and expression",
  })
  .meta({ oneOf: [{ required: ["mapping"] }, { required: ["expression"] }] });

/** Pure computation: `{mapping}` or `{expression, input?}` (D17). */
export const transformStep: StepType = {
  type: "transform",
  title: "Transform",
  description:
    "Computes a value: exactly one of mapping, which is the value with its templates resolved, and expression, which is JSONata. The output is the value.",
  configSchema,
  inheritsRetry: false,

  check({ config }, stepPath, problems) {
    const parsed = problems.parse(configSchema, config, [...stepPath, "config"]);
    if (parsed?.expression === undefined) return;
    const problem = findExpressionProblem(parsed.expression);
    if (problem !== null) problems.add([...stepPath, "config", "expression"], problem);
  },

  blocks: () => [],
  templateFields: ({ config }) => fieldsOf(config, ["mapping", "input"]),

  compile({ config }, base) {
    const { mapping, expression, input } = config;
    if (typeof expression !== "string") {
      return {
        ...base,
        type: "transform",
        transform: { kind: "mapping", mapping: compileTemplates(mapping) },
      };
    }
    const compiledInput = compileOptional(input);
    return {
      ...base,
      type: "transform",
      transform: { kind: "expression", expression, input: compiledInput },
    };
  },
};

/** Parses JSONata, which throws objects with a position, or a RangeError on absurd nesting. */
function findExpressionProblem(expression: string): string | null {
  try {
    jsonata(expression);
    return null;
  } catch (error) {
    const details: unknown = error;
    const message = isJsonObject(details) ? details["message"] : undefined;
    const position = isJsonObject(details) ? details["position"] : undefined;
    const where = typeof position === "number" ? ` at character ${position}` : "";
    return `is not valid JSONata${where}: ${typeof message === "string" ? message : "it can't be parsed"}`;
  }
}
