import { describe, expect, it } from "@jest/globals";
import { conditionHolds, findBlock, listBlocks } from "@workflow/catalog";
import type { Block } from "@workflow/catalog";
import {
  compileJsonSchema,
  describeActions,
  describeStepTypes,
  triggerSchema,
} from "@workflow/definition";
import { z } from "zod";
import { ACTION_EXAMPLES, STEP_EXAMPLES } from "../support/step-examples.ts";

/*
 * The catalog's core blocks are written out for people who draw workflows; what the service takes is said
 * by the definition's schemas. These tests keep the two from drifting apart.
 */

const described = z.looseObject({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
  anyOf: z.array(z.object({ required: z.array(z.string()) })).optional(),
  oneOf: z.array(z.object({ required: z.array(z.string()) })).optional(),
});

/** Fields of a block that apply with this action, by key; those that choose the action left out. */
function fieldsWith(block: Block, action: string | undefined) {
  return block.subBlocks.filter(
    ({ id, visibleWhen }) =>
      id !== "action" && (visibleWhen === undefined || conditionHolds(visibleWhen, { action })),
  );
}

function expectSameKeys(block: Block, action: string | undefined, jsonSchema: unknown): void {
  const { properties, required, anyOf, oneOf } = described.parse(jsonSchema);
  const fields = fieldsWith(block, action);
  expect(new Set(fields.map(({ id }) => id))).toEqual(new Set(Object.keys(properties)));
  const needed = fields.filter((field) => field.required === true);
  expect(new Set(needed.map(({ id }) => id))).toEqual(new Set(required));
  // No condition can say that one of several is needed: each of them says it of the others.
  const alternatives = (anyOf ?? oneOf ?? []).map((one) => one.required);
  for (const [first = "", ...beside] of alternatives) {
    const others = alternatives.flatMap(([other = ""]) => (other === first ? [] : [other]));
    expect(descriptionOf(block, first)).toContain(`eeded unless ${anyOfKeys(others)} is given`);
    if (oneOf !== undefined) {
      expect(descriptionOf(block, first)).toContain(`not together with ${anyOfKeys(others)}`);
    }
    for (const key of beside) {
      expect(descriptionOf(block, key)).toContain(`needed with ${first}; only with ${first}`);
    }
  }
}

function descriptionOf(block: Block, key: string): string {
  return block.inputs.find((input) => input.key === key)?.description ?? "";
}

/** "a, b or c". */
function anyOfKeys(keys: readonly string[]): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(keys);
}

/** Whether values without templates are what the block's inputs say they are. */
function expectTyped(block: Block, example: unknown): void {
  for (const [key, value] of Object.entries(Object(example))) {
    const input = block.inputs.find((one) => one.key === key);
    if (JSON.stringify(value).includes("{{") || input?.schema === undefined) continue;
    const schema = compileJsonSchema(input.schema);
    expect({ [key]: schema.ok ? schema.validate(value) : schema.violations }).toEqual({
      [key]: [],
    });
  }
}

function blockOf(type: string): Block {
  const block = findBlock(type);
  if (block === undefined) throw new Error(`no block ${type}`);
  return block;
}

const types = describeStepTypes().filter(({ type }) => type !== "action");
const actions = describeActions();

describe("a core block has the keys of the definition, and needs the same", () => {
  it.each(types.map(({ type, configSchema }) => ({ type, configSchema })))(
    "$type",
    ({ type, configSchema }) => {
      const block = blockOf(type);
      expect(block).toMatchObject({ kind: "core", connectionRequired: false });
      expectSameKeys(block, undefined, configSchema);
      expectTyped(block, Object(STEP_EXAMPLES[type]).config);
    },
  );

  it.each(actions.map(({ id, inputSchema, outputs }) => ({ id, inputSchema, outputs })))(
    "$id",
    ({ id, inputSchema, outputs }) => {
      const block = blockOf(id.slice(0, id.indexOf(".")));
      expect(block).toMatchObject({ kind: "core", connectionRequired: false });
      expect(block.actions).toContain(id);
      expectSameKeys(block, id, inputSchema);
      expect(block.outputs).toEqual(expect.arrayContaining([...outputs]));
      expectTyped(block, ACTION_EXAMPLES[id]);
    },
  );

  it("and there are no others", () => {
    const core = listBlocks("core");
    const ofActions = actions.map(({ id }) => id.slice(0, id.indexOf(".")));
    const known = new Set([...types.map(({ type }) => type), ...ofActions]);
    expect(new Set(core.map(({ type }) => type))).toEqual(known);
    const ids = core.flatMap((block) => block.actions);
    expect(new Set(ids)).toEqual(new Set(actions.map(({ id }) => id)));
  });
});

describe("a trigger's block has the keys of the trigger's schema, and needs the same", () => {
  const schemas = z
    .object({ oneOf: z.array(z.looseObject({ properties: z.record(z.string(), z.unknown()) })) })
    .parse(z.toJSONSchema(triggerSchema, { io: "input" })).oneOf;
  const schemaOf = (type: string) =>
    schemas.find(({ properties }) => Object(properties["type"]).const === type);

  it.each(listBlocks("triggers").map((block) => ({ name: block.type, block })))(
    "$name",
    ({ block }) => {
      const [type] = block.subBlocks.find(({ id }) => id === "type")?.options ?? [];
      const schema = schemaOf(type?.id ?? "");
      expect(schema).toBeDefined();
      const { properties, required } = described.parse(schema);
      expect(new Set(block.inputs.map(({ key }) => key))).toEqual(new Set(Object.keys(properties)));
      const needed = block.subBlocks.filter((field) => field.required === true);
      expect(needed.map(({ id }) => id)).toEqual(expect.arrayContaining(required));
      // What the block needs makes a valid trigger.
      const values = { path: "orders", tableId: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a" };
      const given = needed.map(({ id, options }) => [id, options?.[0]?.id ?? Object(values)[id]]);
      const trigger = { ...Object.fromEntries(given), ...(type?.id === "schedule" ? CRON : {}) };
      expect(triggerSchema.safeParse(trigger)).toMatchObject({ success: true });
    },
  );

  it("every type of trigger has a block", () => {
    const shown = listBlocks("triggers").flatMap(({ subBlocks }) =>
      subBlocks.filter(({ id }) => id === "type").flatMap(({ options = [] }) => options),
    );
    const known = schemas.map(({ properties }) => Object(properties["type"]).const);
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set(known));
  });
});

/** The one thing that a schedule needs and that no single field says. */
const CRON = { cron: "0 8 * * 1" };
