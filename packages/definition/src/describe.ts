import { z } from "zod";
import { ACTIONS } from "./actions/registry.ts";
import type { JsonObject } from "./json.ts";
import { STEP_TYPES } from "./step-types/registry.ts";
import { stepSchema } from "./step.ts";

/** A step type as catalog and documents show it. */
export interface StepTypeDescription {
  type: string;
  title: string;
  /** What it does and returns, and rules that its schema can't say. */
  description: string;
  /** JSON Schema (draft 2020-12) of the config; of an action its inputs come on top. */
  configSchema: JsonObject;
}

/** An action as catalog and documents show it. */
export interface ActionDescription {
  id: string;
  title: string;
  description: string;
  /** JSON Schema (draft 2020-12) of the inputs. */
  inputSchema: JsonObject;
  /** Names of the output's members; empty when the output is whatever the call brings. */
  outputs: readonly string[];
}

/** JSON Schema (draft 2020-12) of what every step has, whatever its type. */
export function describeStep(): JsonObject {
  return toJsonSchema(stepSchema);
}

/** Every step type, from the schemas that validation uses. */
export function describeStepTypes(): StepTypeDescription[] {
  return STEP_TYPES.map(({ type, title, description, configSchema }) => ({
    type,
    title,
    description,
    configSchema: toJsonSchema(configSchema),
  }));
}

/** Every action, from the schemas that validation uses. */
export function describeActions(): ActionDescription[] {
  return ACTIONS.map(({ id, title, description, inputs, outputs }) => ({
    id,
    title,
    description,
    inputSchema: toJsonSchema(inputs),
    outputs,
  }));
}

/** What a caller may send: defaults are not required, rules of refinements are in the descriptions. */
function toJsonSchema(schema: z.ZodType): JsonObject {
  return { ...z.toJSONSchema(schema, { io: "input", target: "draft-2020-12" }) };
}
