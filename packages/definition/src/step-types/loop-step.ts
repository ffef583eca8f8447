import type { JsonObject } from "@workflow/json";
import { z } from "zod";
import { checkConditionInto, compileCondition } from "../condition.ts";
import type { CompiledLoopStep } from "../compiled-definition.ts";
import { DEFINITION_LIMITS } from "../limits.ts";
import { parseOrThrow } from "../parse-or-throw.ts";
import { fieldsOf } from "../step.ts";
import { compileTemplates } from "../template.ts";
import { templatable } from "../zod-messages.ts";
import { conditionConfig, stepList } from "./config-parts.ts";
import type { StepType } from "./step-type.ts";

const FORMS = ["items", "count", "while"] as const;

const maxIterations = z
  .int()
  .min(1)
  .max(DEFINITION_LIMITS.loopIterationsMax)
  .default(1_000)
  .meta({ description: "The step fails when it needs more iterations" });

const configSchema = z
  .looseObject({
    items: templatable(z.array(z.unknown()))
      .optional()
      .meta({ description: "The array to iterate over; {{loop.item}} is the current item" }),
    count: templatable(z.int().min(0)).optional().meta({ description: "How often the steps run" }),
    while: conditionConfig
      .optional()
      .meta({ description: "A condition that is evaluated before each iteration" }),
    steps: stepList,
    maxIterations,
  })
  .refine((config) => FORMS.filter((form) => config[form] !== undefined).length === 1, {
    error: "a loop has exactly one of items, count and while",
  })
  .meta({ oneOf: FORMS.map((form) => ({ required: [form] })) });

/** Runs steps again and again: `{items}`, `{count}` or `{while}` (D17). */
export const loopStep: StepType = {
  type: "loop",
  title: "Loop",
  description:
    "Runs its steps once for each item, a number of times, or as long as a condition holds; exactly one of items, count and while says which. Inside, {{loop.item}} and {{loop.index}} (from 0) are there. The output is the array of the last outputs.",
  configSchema,
  inheritsRetry: false,

  check({ config }, stepPath, problems) {
    const configPath = [...stepPath, "config"];
    const parsed = problems.parse(configSchema, config, configPath);
    if (config["while"] !== undefined) {
      checkConditionInto(problems, config["while"], [...configPath, "while"]);
    }
    if (parsed === undefined) return;
    const limit = parsed.maxIterations;
    if (typeof parsed.count === "number" && parsed.count > limit) {
      const message = `is more than maxIterations, which is ${limit}; lower it or raise maxIterations`;
      problems.add([...configPath, "count"], message);
    }
    if (Array.isArray(parsed.items) && parsed.items.length > limit) {
      const message = `has more items than maxIterations, which is ${limit}; shorten it or raise maxIterations`;
      problems.add([...configPath, "items"], message);
    }
  },

  blocks: (config) => [
    { label: null, path: ["steps"], steps: config["steps"], repeats: true, mayBeEmpty: false },
  ],

  templateFields: ({ config }) => [
    ...fieldsOf(config, ["items", "count"]),
    ...fieldsOf(config, ["while"]).map((field) => ({ ...field, seesOwnBlocks: true })),
  ],

  compile({ config }, base, compileBlock) {
    return {
      ...base,
      type: "loop",
      over: compileOver(config),
      steps: compileBlock(config["steps"], null),
      maxIterations: parseOrThrow(maxIterations, config["maxIterations"], base.path),
    };
  },
};

function compileOver(config: JsonObject): CompiledLoopStep["over"] {
  if (config["items"] !== undefined) {
    return { kind: "items", items: compileTemplates(config["items"]) };
  }
  if (config["count"] !== undefined) {
    return { kind: "count", count: compileTemplates(config["count"]) };
  }
  return { kind: "while", condition: compileCondition(config["while"]) };
}
