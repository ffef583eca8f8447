import type { JsonObject } from "@workflow/json";
import { z } from "zod";
import { ACTIONS } from "./actions/registry.ts";
import { retryPolicySchema } from "./retry-policy.ts";
import { settingsSchema } from "./settings.ts";
import { conditionConfig, stepList } from "./step-types/config-parts.ts";
import { STEP_TYPES } from "./step-types/registry.ts";
import { stepSchema } from "./step.ts";
import { triggerSchema } from "./trigger.ts";

/** A step type as the catalog and the documents show it. */
export interface StepTypeDescription {
  type: string;
  title: string;
  /** The effect and the output of the step, and rules that a schema cannot express. */
  description: string;
  /** JSON Schema (draft 2020-12) of the config; a step of type action has the action's inputs in addition. */
  configSchema: JsonObject;
}

/** An action as the catalog and the documents show it. */
export interface ActionDescription {
  id: string;
  title: string;
  description: string;
  /** JSON Schema (draft 2020-12) of the inputs. */
  inputSchema: JsonObject;
  /** Names of the output's members; empty when the output is whatever the call brings. */
  outputs: readonly string[];
}

/** A trigger type as the documents show it. */
export interface TriggerDescription {
  type: string;
  /** JSON Schema (draft 2020-12). */
  schema: JsonObject;
}

/**
 * The replacement for recursive parts in a document, usually `$ref`s to its own schemas. Without a
 * replacement the part allows any JSON.
 */
export interface NestedSchemas {
  step?: JsonObject;
  condition?: JsonObject;
}

/** JSON Schema (draft 2020-12) of the members of every step, whatever its type. */
export function describeStep(): JsonObject {
  return toJsonSchema(stepSchema);
}

/** Every type of trigger, from the schemas that validation uses. */
export function describeTriggers(): TriggerDescription[] {
  return triggerSchema.options.map((schema) => ({
    type: schema.shape.type.value,
    schema: toJsonSchema(schema),
  }));
}

/** JSON Schema (draft 2020-12) of a workflow's settings. */
export function describeSettings(): JsonObject {
  return toJsonSchema(settingsSchema);
}

/** JSON Schema (draft 2020-12) of a retry policy. */
export function describeRetryPolicy(): JsonObject {
  return toJsonSchema(retryPolicySchema);
}

/** Every step type, from the schemas that validation uses. */
export function describeStepTypes(nested: NestedSchemas = {}): StepTypeDescription[] {
  return STEP_TYPES.map(({ type, title, description, configSchema }) => ({
    type,
    title,
    description,
    configSchema: toJsonSchema(configSchema, nested),
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

/**
 * The schema of a caller's input: members with defaults are optional, and rules of refinements stand in
 * descriptions.
 */
function toJsonSchema(schema: z.ZodType, { step, condition }: NestedSchemas = {}): JsonObject {
  const shown = z.toJSONSchema(schema, {
    io: "input",
    target: "draft-2020-12",
    override({ zodSchema, jsonSchema }) {
      if (step !== undefined && zodSchema === stepList) jsonSchema.items = step;
      if (condition !== undefined && zodSchema === conditionConfig) {
        Object.assign(jsonSchema, condition);
      }
    },
  });
  return { ...shown };
}
