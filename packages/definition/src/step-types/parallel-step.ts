import { isJsonObject, ownProperty } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { z } from "zod";
import { DEFINITION_LIMITS } from "../limits.ts";
import { parseOrThrow } from "../parse-or-throw.ts";
import { fieldsOf, idSchema } from "../step.ts";
import { compileTemplates } from "../template.ts";
import { templatable } from "../zod-messages.ts";
import { stepList } from "./config-parts.ts";
import type { StepType } from "./step-type.ts";

const branchSchema = z.looseObject({
  id: idSchema.optional().meta({ description: "branch1, branch2 and so on where none is given" }),
  name: z.string().max(DEFINITION_LIMITS.nameCharsMax).optional(),
  steps: stepList,
});

const options = z.looseObject({
  strategy: z
    .enum(["wait-all", "wait-all-settled", "wait-any", "fail-fast"])
    .default("wait-all")
    .meta({
      description:
        "When the step ends: wait-all when all have ended, failing with the first failure; wait-all-settled when all have ended, without failing; wait-any with the first success; fail-fast when all have succeeded or with the first failure. Whatever still runs then is cancelled",
    }),
  concurrency: z
    .int()
    .min(1)
    .max(DEFINITION_LIMITS.parallelConcurrencyMax)
    .optional()
    .meta({ description: "How many branches or items run at one time" }),
  timeout: z
    .int()
    .min(1)
    .max(DEFINITION_LIMITS.timeoutMsMax)
    .optional()
    .meta({ description: "Milliseconds for all branches together, waiting included" }),
});

const configSchema = options
  .extend({
    branches: z.array(branchSchema).max(DEFINITION_LIMITS.branchesMax).optional(),
    forEach: templatable(z.array(z.unknown()).max(DEFINITION_LIMITS.forEachItemsMax))
      .optional()
      .meta({ description: "The steps run for each item of this array" }),
    steps: stepList.optional().meta({ description: "Steps for each item; only with forEach" }),
  })
  .refine((config) => (config.branches === undefined) !== (config.forEach === undefined), {
    error: "a parallel has exactly one of branches and forEach (with steps)",
    abort: true,
  })
  .refine((config) => (config.forEach === undefined) === (config.steps === undefined), {
    path: ["steps"],
    error: "forEach and steps go together",
  })
  .meta({ oneOf: [{ required: ["branches"] }, { required: ["forEach", "steps"] }] });

/** Runs branches beside each other, or the same steps for each item of an array (D17). */
export const parallelStep: StepType = {
  type: "parallel",
  title: "Parallel",
  description:
    "Runs branches beside each other, or its steps for each item of an array: exactly one of branches and forEach. With forEach, {{loop.item}} and {{loop.index}} are there inside, and the output is an array; with branches it is {branches: {<id>: last output}}.",
  configSchema,
  inheritsRetry: false,

  check({ config }, stepPath, problems) {
    const configPath = [...stepPath, "config"];
    problems.parse(configSchema, config, configPath);
    if (Array.isArray(config["branches"]) && config["branches"].length === 0) {
      problems.addUnfinished([...configPath, "branches"], "must have at least 1 branch");
    }
    const ids = new Set<unknown>();
    for (const { id, path } of branchesOf(config)) {
      if (ids.has(id)) problems.add([...configPath, ...path, "id"], usedTwice(id));
      ids.add(id);
      if (problems.isFull) return;
    }
  },

  blocks(config) {
    if (config["forEach"] !== undefined) {
      if (config["steps"] === undefined) return [];
      const body = { label: null, path: ["steps"], steps: config["steps"] };
      return [{ ...body, repeats: true, mayBeEmpty: false }];
    }
    return branchesOf(config).map((branch) => ({
      label: String(branch.id),
      path: [...branch.path, "steps"],
      steps: branch.steps,
      repeats: false,
      mayBeEmpty: false,
    }));
  },

  templateFields: ({ config }) => fieldsOf(config, ["forEach"]),

  compile({ config }, base, compileBlock) {
    const { strategy, concurrency, timeout } = parseOrThrow(options, config, base.path);
    const { forEach } = config;
    return {
      ...base,
      type: "parallel",
      work:
        forEach === undefined
          ? {
              kind: "branches",
              branches: branchesOf(config).map(({ id, name, steps }) => ({
                id: String(id),
                name: typeof name === "string" ? name : undefined,
                steps: compileBlock(steps, String(id)),
              })),
            }
          : {
              kind: "forEach",
              items: compileTemplates(forEach),
              steps: compileBlock(config["steps"], null),
            },
      strategy,
      concurrency,
      totalTimeoutMs: timeout,
    };
  },
};

interface Branch {
  id: unknown;
  name: unknown;
  steps: unknown;
  path: string[];
}

/** The branches. In an unchecked config, the branches that are objects. */
function branchesOf(config: JsonObject): Branch[] {
  const branches: readonly unknown[] = Array.isArray(config["branches"]) ? config["branches"] : [];
  return branches.slice(0, DEFINITION_LIMITS.branchesMax).flatMap((branch, index) => {
    if (!isJsonObject(branch)) return [];
    return {
      id: ownProperty(branch, "id") ?? `branch${index + 1}`,
      name: ownProperty(branch, "name"),
      steps: ownProperty(branch, "steps"),
      path: ["branches", String(index)],
    };
  });
}

function usedTwice(id: unknown): string {
  return `${JSON.stringify(id)} is the id of another branch too; a branch without an id is called branch1, branch2 and so on by its place`;
}
