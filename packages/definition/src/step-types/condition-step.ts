import { isJsonObject, ownProperty } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { z } from "zod";
import { checkConditionInto, compileCondition } from "../condition.ts";
import { DEFINITION_LIMITS } from "../limits.ts";
import { idSchema } from "../step.ts";
import { conditionConfig, stepList } from "./config-parts.ts";
import type { StepType } from "./step-type.ts";

/** The label of the steps that run when no branch matches; no branch may have this id. */
const ELSE = "else";
/** The id of the single branch of the form if/then/else. */
const THEN = "then";

const branchId = idSchema.meta({ description: "Part of the paths of the steps inside" });

const configSchema = z
  .looseObject({
    branches: z
      .array(z.looseObject({ id: branchId, when: conditionConfig, steps: stepList }))
      .min(1)
      .max(DEFINITION_LIMITS.branchesMax)
      .optional(),
    if: conditionConfig.optional(),
    // oxlint-disable-next-line unicorn/no-thenable -- the key is part of the contract
    then: stepList.optional(),
    else: stepList.optional().meta({ description: "Steps that run when no branch is taken" }),
  })
  .refine((config) => (config.branches === undefined) !== (config.if === undefined), {
    error: "a condition has exactly one of branches and if (with then)",
  })
  .refine((config) => (config.if === undefined) === (config.then === undefined), {
    path: [THEN],
    error: "if and then go together",
  })
  .meta({ oneOf: [{ required: ["branches"] }, { required: ["if", "then"] }] });

/** Takes the first branch whose condition holds: `{branches, else?}` or `{if, then, else?}` (D17). */
export const conditionStep: StepType = {
  type: "condition",
  title: "Condition",
  description:
    "Runs the first branch whose condition holds: give either branches, or if and then; else runs when no condition holds. The output is {branch}, the id of that branch (then and else are ids, too).",
  configSchema,
  inheritsRetry: false,

  check({ config }, stepPath, problems) {
    const configPath = [...stepPath, "config"];
    problems.parse(configSchema, config, configPath);
    const ids = new Set<unknown>([ELSE]);
    for (const branch of branchesOf(config)) {
      checkConditionInto(problems, branch.when, [...configPath, ...branch.whenPath]);
      if (ids.has(branch.id)) {
        const rule =
          branch.id === ELSE ? "else is reserved; give the branch another id" : "is used twice";
        problems.add([...configPath, ...branch.path, "id"], rule);
      }
      ids.add(branch.id);
      if (problems.isFull) return;
    }
  },

  blocks(config) {
    const rest = { repeats: false, mayBeEmpty: true };
    const blocks = branchesOf(config).map((branch) => ({
      label: String(branch.id),
      path: branch.stepsPath,
      steps: branch.steps,
      ...rest,
    }));
    if (config[ELSE] === undefined) return blocks;
    return [...blocks, { label: ELSE, path: [ELSE], steps: config[ELSE], ...rest }];
  },

  templateFields: ({ config }) =>
    branchesOf(config).map((branch) => ({ path: branch.whenPath, value: branch.when })),

  compile({ config }, base, compileBlock) {
    return {
      ...base,
      type: "condition",
      branches: branchesOf(config).map((branch) => ({
        id: String(branch.id),
        when: compileCondition(branch.when),
        steps: compileBlock(branch.steps, String(branch.id)),
      })),
      elseSteps: compileBlock(config[ELSE] ?? [], ELSE),
    };
  },
};

interface Branch {
  id: unknown;
  when: unknown;
  steps: unknown;
  path: string[];
  whenPath: string[];
  stepsPath: string[];
}

/** The branches of either form. In an unchecked config, the branches that are objects. */
function branchesOf(config: JsonObject): Branch[] {
  if (config["if"] !== undefined) {
    const { if: when, then } = config;
    return [{ id: THEN, when, steps: then, path: [], whenPath: ["if"], stepsPath: [THEN] }];
  }
  const branches: readonly unknown[] = Array.isArray(config["branches"]) ? config["branches"] : [];
  return branches.slice(0, DEFINITION_LIMITS.branchesMax).flatMap((branch, index) => {
    if (!isJsonObject(branch)) return [];
    const path = ["branches", String(index)];
    return {
      id: ownProperty(branch, "id"),
      when: ownProperty(branch, "when"),
      steps: ownProperty(branch, "steps"),
      path,
      whenPath: [...path, "when"],
      stepsPath: [...path, "steps"],
    };
  });
}
