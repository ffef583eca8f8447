import { z } from "zod";
import { ACTIONS, findAction } from "../actions/registry.ts";
import { wholeConfig } from "../step.ts";
import { compileTemplates } from "../template.ts";
import { oneOf } from "../zod-messages.ts";
import type { StepType } from "./step-type.ts";

const configSchema = z.looseObject({ connectionId: z.string().min(1).optional() });

/** One call of something outside: `{connectionId?, …inputs}` by the action's input keys (D17). */
export const actionStep: StepType = {
  type: "action",
  configSchema,

  check({ action, config }, stepPath, problems) {
    problems.parse(configSchema, config, [...stepPath, "config"]);
    const known = oneOf(ACTIONS.map(({ id }) => JSON.stringify(id)));
    const definition = action === undefined ? undefined : findAction(action);
    if (definition !== undefined) {
      problems.parse(definition.inputs, config, [...stepPath, "config"]);
    } else if (action === undefined) {
      problems.add([...stepPath, "action"], `is required for a step of type action: ${known}`);
    } else {
      problems.add([...stepPath, "action"], `is not a known action; it must be ${known}`);
    }
  },

  blocks: () => [],
  templateFields: wholeConfig,

  compile({ action = "", config }, base) {
    const { connectionId, ...inputs } = config;
    return {
      ...base,
      type: "action",
      action,
      connectionId: connectionId === undefined ? undefined : compileTemplates(connectionId),
      inputs: compileTemplates(inputs),
    };
  },
};
