import {
  BINARY_OPERATORS,
  DEFINITION_LIMITS,
  describeRetryPolicy,
  describeSettings,
  describeStep,
  describeStepTypes,
  describeTriggers,
  UNARY_OPERATORS,
} from "@workflow/definition";
import { z } from "zod";
import { jsonArray, jsonObject } from "../fields.ts";
import { componentOf, refTo, shownAs, shownAsComponent } from "../shown-as.ts";

/*
 * The schemas of definitions, taken from their validation, so that no rule has a second copy. Answers
 * contain what callers sent, so members with defaults may be missing.
 */

/** A condition contains conditions, so the schema refers to itself by name. */
const CONDITION = { $ref: "#/components/schemas/Condition" };
const anyOperand = { description: "Any JSON value, or a template." };

const conditionSchema = z.unknown().meta({
  id: "Condition",
  description:
    "What decides about a branch, a loop or a step. Values that can't be compared give false.",
  examples: [{ left: "{{input.total}}", operator: "greater_than", right: 100 }],
  override: {
    oneOf: [
      {
        type: "object",
        properties: {
          left: anyOperand,
          operator: { enum: [...BINARY_OPERATORS] },
          right: anyOperand,
          // Null means the default, and is stored as sent.
          ignoreCase: { type: ["boolean", "null"], default: false },
        },
        required: ["left", "operator", "right"],
      },
      {
        type: "object",
        properties: { left: anyOperand, operator: { enum: [...UNARY_OPERATORS] } },
        required: ["left", "operator"],
      },
      {
        type: "object",
        properties: { all: { type: "array", minItems: 1, items: CONDITION } },
        required: ["all"],
      },
      {
        type: "object",
        properties: { any: { type: "array", minItems: 1, items: CONDITION } },
        required: ["any"],
      },
      { type: "object", properties: { not: CONDITION }, required: ["not"] },
    ],
  },
});

const retryPolicySchema = componentOf(
  {
    id: "RetryPolicy",
    description: "How often, and how long after a failure, something is tried again.",
    examples: [{ maxAttempts: 3, backoff: "exponential", delayMs: 1_000 }],
  },
  describeRetryPolicy(),
);

/** The settings of all runs of a workflow. */
export const settingsSchema = componentOf(
  {
    id: "WorkflowSettings",
    description: "How runs of a workflow are executed; members that are not known are kept.",
    examples: [{ timeoutMs: 600_000, tags: ["billing"] }],
  },
  describeSettings(),
  { retry: retryPolicySchema.optional().describe("For steps without a policy of their own.") },
);

/** A JSON Schema from a caller. */
export const jsonSchemaSchema = z.looseObject({}).meta({
  id: "JsonSchema",
  description:
    "A JSON Schema, by default of draft 2020-12, written by a caller. It may have 400 parts and refers to nothing outside.",
  examples: [{ type: "object", properties: { name: { type: "string" } }, required: ["name"] }],
});

const TRIGGER_WORDS: Readonly<Record<string, string>> = {
  api: "Runs are started by POST /workflows/{id}/run.",
  manual: "Runs are started by people, through POST /workflows/{id}/run.",
  webhook: "Events of a provider, or requests to a path, start runs.",
  schedule: "Times start runs: of a cron pattern or at an interval.",
  table: "Changes of a data table's rows start runs.",
};

const triggerSchemas = describeTriggers().map(({ type, schema }) =>
  componentOf(
    { id: `${pascal(type)}Trigger`, description: TRIGGER_WORDS[type] ?? `The trigger ${type}.` },
    schema,
  ),
);

/** A trigger of a workflow. */
export const triggerSchema = z.union(triggerSchemas).meta({
  id: "Trigger",
  description: "What starts the workflow; members that are not known are kept.",
  examples: [{ type: "api" }],
  override: byType(
    describeTriggers().map(({ type }, index) => ({ type, schema: triggerSchemas[index] })),
  ),
});

/** One step, with nested steps in its config. */
const STEP = { $ref: "#/components/schemas/Step" };
const stepTypes = describeStepTypes({ step: STEP, condition: CONDITION });
const { properties: ofEveryStep, ...anyStep } = describeStep();

const stepSchemas = stepTypes.map(({ type, description, configSchema }) => {
  const { $schema: _draft, ...config } = configSchema;
  return componentOf(
    { id: `${pascal(type)}Step`, description },
    {
      ...anyStep,
      properties: Object.assign({}, ofEveryStep, { type: { const: type }, config }),
      required: ["id", "type", "name", "config", ...(type === "action" ? ["action"] : [])],
    },
    {
      when: conditionSchema.optional().describe("The step is skipped when it does not hold."),
      retry: retryPolicySchema
        .optional()
        .describe("What happens after a failed attempt; replaces the workflow's policy."),
    },
  );
});

/** One step of a workflow. */
export const stepSchema = z.union(stepSchemas).meta({
  id: "Step",
  description:
    "One step of a workflow. Its id is unique in the workflow, nested steps included. Strings of its config may hold templates such as {{input.name}}.",
  examples: [
    {
      id: "greet",
      type: "transform",
      name: "Greet",
      config: { mapping: { text: "Hello {{input.name}}" } },
    },
  ],
  override: byType(stepTypes.map(({ type }, index) => ({ type, schema: stepSchemas[index] }))),
});

/** The parts of a definition in bodies. Their JSON text goes to the workflows service, which validates it. */
export const definitionFields = {
  trigger: shownAsComponent(jsonObject, triggerSchema),
  steps: shownAs(jsonArray, {
    type: "array",
    items: refTo(stepSchema),
    maxItems: DEFINITION_LIMITS.stepsMax,
  }).meta({
    examples: [
      [
        {
          id: "greet",
          type: "transform",
          name: "Greet",
          config: { mapping: { text: "Hello {{input.name}}" } },
        },
      ],
    ],
  }),
  jsonSchema: shownAsComponent(jsonObject, jsonSchemaSchema),
  settings: shownAsComponent(jsonObject, settingsSchema),
};

function pascal(type: string): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}

/** A discriminator by `type`, for readers and generated clients. */
function byType(members: readonly { type: string; schema: z.ZodType | undefined }[]) {
  const mapping = Object.fromEntries(
    members.flatMap(({ type, schema }) =>
      schema === undefined ? [] : [[type, refTo(schema)["$ref"]]],
    ),
  );
  return ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
    jsonSchema["oneOf"] = jsonSchema["anyOf"];
    delete jsonSchema["anyOf"];
    jsonSchema["discriminator"] = { propertyName: "type", mapping };
  };
}
