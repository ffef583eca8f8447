import { BLOCK_KINDS } from "@workflow/catalog";
import type { Control, InputType } from "@workflow/catalog";
import { z } from "zod";
import { anyObject, namesOf } from "../answer-schemas.ts";

const INPUT_TYPES = {
  string: true,
  number: true,
  boolean: true,
  json: true,
  array: true,
  file: true,
} as const satisfies Record<InputType, true>;

const CONTROLS = {
  "short-input": true,
  "long-input": true,
  combobox: true,
  dropdown: true,
  switch: true,
  code: true,
  table: true,
  "file-upload": true,
  connection: true,
} as const satisfies Record<Control, true>;

const fieldValue = z.union([z.string(), z.number(), z.boolean()]);

/** The condition under which a field applies, or is required. */
const fieldConditionSchema: z.ZodType = z
  .strictObject({
    field: z
      .string()
      .describe("The id of another field.")
      .meta({ examples: ["operation"] }),
    value: z
      .union([fieldValue, z.array(fieldValue)])
      .describe("What that field has to be; of several values one.")
      .meta({ examples: ["create"] }),
    not: z.boolean().optional().describe("Whether it must not be that; false when left out."),
    get and() {
      return fieldConditionSchema.optional().describe("What has to hold as well.");
    },
  })
  .meta({
    id: "FieldCondition",
    description: "When a field of a block applies, or is needed.",
    examples: [{ field: "operation", value: "create" }],
  });

const inputSchema = z
  .strictObject({
    key: z
      .string()
      .describe("The key in a step's config.")
      .meta({ examples: ["amount"] }),
    type: namesOf(INPUT_TYPES)
      .describe("The type of the value.")
      .meta({ examples: ["number"] }),
    description: z.string().optional(),
    schema: anyObject
      .optional()
      .describe("JSON Schema (draft 2020-12) of a value without templates, where it says more.")
      .meta({ examples: [{ type: "integer", minimum: 1 }] }),
  })
  .meta({ id: "BlockInput", description: "A key of a configuration and the type of its value." });

const subBlockSchema = z
  .strictObject({
    id: z
      .string()
      .describe("The key of its input.")
      .meta({ examples: ["amount"] }),
    type: namesOf(CONTROLS)
      .describe("How it is shown where a workflow is drawn; not the type of the value.")
      .meta({ examples: ["short-input"] }),
    title: z
      .string()
      .optional()
      .meta({ examples: ["Amount"] }),
    required: z.boolean().optional().describe("Whether it is needed whenever it applies."),
    requiredWhen: fieldConditionSchema.optional().describe("When it is needed, if it applies."),
    visibleWhen: fieldConditionSchema
      .optional()
      .describe("When it applies; always where it is left out."),
    options: z
      .array(z.strictObject({ id: z.string(), label: z.string() }))
      .optional()
      .describe("The choices: the id goes into the configuration, the label is for people.")
      .meta({ examples: [[{ id: "eur", label: "Euro" }]] }),
  })
  .meta({
    id: "SubBlock",
    description: "A field for one key. Of several with one id, at most one applies.",
  });

/** An entry of the catalog. */
export const blockSchema = z
  .strictObject({
    type: z
      .string()
      .describe("Names the block, for ever.")
      .meta({ examples: ["stripe"] }),
    name: z.string().meta({ examples: ["Stripe"] }),
    description: z.string().meta({ examples: ["Payments, customers and invoices."] }),
    kind: z.enum(BLOCK_KINDS).meta({ examples: ["integrations"] }),
    category: z.string().optional().describe("Left out where it has none."),
    connectionRequired: z
      .boolean()
      .describe("Whether nothing can be done without a connection to the provider."),
    actions: z
      .array(z.string())
      .describe("Ids of actions, for steps of type action; empty where there are none.")
      .meta({ examples: [["stripe.createInvoice"]] }),
    inputs: z.array(inputSchema).describe("One for each key."),
    outputs: z
      .array(z.string())
      .describe("Names of the output's members, of all actions together.")
      .meta({ examples: [["id", "status"]] }),
    subBlocks: z.array(subBlockSchema).describe("The fields by which people fill in the inputs."),
    links: z
      .strictObject({ self: z.string(), collection: z.string() })
      .describe("Relative to the origin of the API.")
      .meta({ examples: [{ self: "/api/v1/blocks/stripe", collection: "/api/v1/blocks" }] }),
  })
  .meta({
    id: "Block",
    description:
      "An entry of the catalog: what steps and triggers are made of. The same for everybody.",
  });
