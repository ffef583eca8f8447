import { ownProperty } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { z } from "zod";
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
    // Braces in a JSONata text belong to JSONata.
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

/** The parts of the run that an expression without `input` can read. */
const READABLE_ROOTS = ["input", "steps", "trigger", "run", "loop"] as const;

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
    const path = [...stepPath, "config", "expression"];
    const reads = problems.tryExpression(parsed.expression, path) ?? [];
    if (seesScope(config) && reads.some(([root]) => root === "secrets")) {
      problems.add(path, SECRETS_HIDDEN);
    }
  },

  expressions: ({ expression }) => (typeof expression === "string" ? [expression] : []),
  // The members that the expression reads are unknown: it may read all that it sees.
  seesAllOutputs: (config) => typeof config["expression"] === "string" && seesScope(config),
  blocks: () => [],
  templateFields: ({ config }) => fieldsOf(config, ["mapping", "input"]),

  references({ config }, expressions) {
    const { expression } = config;
    if (typeof expression !== "string" || !seesScope(config)) return [];
    const parsed = expressions.get(expression);
    if (parsed?.ok !== true) return [];
    return parsed.paths.flatMap(([root, ...segments]) => {
      const known = READABLE_ROOTS.find((each) => each === root);
      // An expression may read all steps together, so the steps that it uses are unknown.
      if (known === undefined || (known === "steps" && segments.length === 0)) return [];
      return { root: known, segments, path: ["expression"] };
    });
  },

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

const SECRETS_HIDDEN =
  "does not see secrets; give it what it needs as input, as in {{secrets.KEY}}";

/** Without an input the expression sees the same as templates, except secrets. */
function seesScope(config: JsonObject): boolean {
  return ownProperty(config, "input") === undefined;
}
