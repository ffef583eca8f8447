import { z } from "zod";
import { ACTIONS, findAction } from "../actions/registry.ts";
import { compileOptional } from "../template.ts";
import { compileInputs, findTextProblems, inputFields } from "../text-template.ts";
import { oneOf } from "../zod-messages.ts";
import { connectionId as connectionIdSchema } from "./config-parts.ts";
import type { StepType } from "./step-type.ts";

const configSchema = z.looseObject({ connectionId: connectionIdSchema.optional() });

/** One call of something outside: `{connectionId?, …inputs}` by the action's input keys (D17). */
export const actionStep: StepType = {
  type: "action",
  title: "Action",
  description:
    "Calls the action that the step names in action, an id such as http.request. The config has the action's inputs, each of which may be a template; the output is what the action returns.",
  configSchema,
  inheritsRetry: true,
  takesConnection: true,

  check({ action, config }, stepPath, problems) {
    problems.parse(configSchema, config, [...stepPath, "config"]);
    const known = oneOf(ACTIONS.map(({ id }) => JSON.stringify(id)));
    const definition = action === undefined ? undefined : findAction(action);
    if (definition !== undefined) {
      const path = [...stepPath, "config"];
      problems.parse(definition.inputs, config, path);
      for (const message of findTextProblems(config, definition)) {
        problems.add([...path, definition.textTemplate?.template ?? ""], message);
      }
    } else if (action === undefined) {
      problems.add([...stepPath, "action"], `is required for a step of type action: ${known}`);
    } else {
      problems.add([...stepPath, "action"], `is not a known action; it must be ${known}`);
    }
  },

  blocks: () => [],
  templateFields: ({ config, action = "" }) => inputFields(config, findAction(action)),

  compile({ action = "", config }, base) {
    const { connectionId, ...inputs } = config;
    return {
      ...base,
      type: "action",
      action,
      connectionId: compileOptional(connectionId),
      inputs: compileInputs(inputs, findAction(action)),
    };
  },
};
