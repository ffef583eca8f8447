import { z } from "zod";
import { findProviderProblems } from "../actions/provider-action.ts";
import { findAction } from "../actions/registry.ts";
import { describeUnknownAction, NO_ACTION } from "../actions/unknown-action.ts";
import { compileOptional } from "../template.ts";
import { compileInputs, findTextProblems, inputFields } from "../text-template.ts";
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

  check({ action, config, isResolved }, stepPath, problems) {
    const path = [...stepPath, "config"];
    problems.parse(configSchema, config, path);
    if (action === undefined) {
      problems.add([...stepPath, "action"], NO_ACTION);
      return;
    }
    const definition = findAction(action);
    if (definition !== undefined) {
      problems.parse(definition.inputs, config, path);
      for (const message of findTextProblems(config, definition)) {
        problems.add([...path, definition.textTemplate?.template ?? ""], message);
      }
      return;
    }
    const found = findProviderProblems(action, config, isResolved);
    if (found !== undefined) problems.addAll(path, found);
    else problems.add([...stepPath, "action"], describeUnknownAction(action));
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
