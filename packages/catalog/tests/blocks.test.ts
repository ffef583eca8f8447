import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import {
  BLOCK_KINDS,
  conditionHolds,
  findBlock,
  inputsOf,
  listBlocks,
  PROVIDERS,
} from "../src/index.ts";
import type { Block, SubBlock } from "../src/index.ts";
import type { ActionInput } from "../src/index.ts";

const blocks = listBlocks();

/** The fields that apply to a configuration, one text each, without those of every action. */
function fieldsFor(block: Block, config: Readonly<Record<string, unknown>>): string[] {
  return block.subBlocks
    .filter(({ id }) => id !== "action" && id !== "connectionId")
    .filter((field) => applies(field, config))
    .map((field) => describeField(field.id, field, config))
    .toSorted();
}

/** The expected fields for the inputs of an action. */
function wantedFields(
  inputs: readonly ActionInput[],
  config: Readonly<Record<string, unknown>>,
): string[] {
  return inputs
    .filter((input) => applies(input, config))
    .map((input) => describeField(input.key, input, config))
    .toSorted();
}

function describeField(
  key: string,
  field: Pick<SubBlock, "required" | "requiredWhen" | "options">,
  config: Readonly<Record<string, unknown>>,
): string {
  return `${key} ${isNeeded(field, config) ? "needed" : "optional"} ${optionsText(field.options)}`;
}

const optionTexts = new WeakMap<object, string>();

/** The texts are made once for all configurations, as some fields have hundreds of options. */
function optionsText(options: SubBlock["options"]): string {
  if (options === undefined) return "";
  const known = optionTexts.get(options) ?? JSON.stringify(options);
  optionTexts.set(options, known);
  return known;
}

function applies(
  { visibleWhen }: Pick<SubBlock, "visibleWhen">,
  config: Readonly<Record<string, unknown>>,
): boolean {
  return visibleWhen === undefined || conditionHolds(visibleWhen, config) === true;
}

/** Rule 3 of the contract. */
function isNeeded(
  field: Pick<SubBlock, "required" | "requiredWhen">,
  config: Readonly<Record<string, unknown>>,
): boolean {
  const { required = false, requiredWhen } = field;
  return required || (requiredWhen !== undefined && conditionHolds(requiredWhen, config) === true);
}

/** Configurations in which conditions hold or fail, with the values that conditions name and others. */
function configsOf(inputs: readonly ActionInput[]): fc.Arbitrary<Record<string, unknown>> {
  const named = inputs.map(({ key, options }) => {
    const values = options?.map(({ id }) => id) ?? ["x", "y"];
    return [key, fc.option(fc.constantFrom<unknown>(...values, true, 1), { nil: undefined })];
  });
  return fc.record(Object.fromEntries(named));
}

describe.each(blocks)("the block $type", (block) => {
  it("is found by its type, and says where", () => {
    expect(findBlock(block.type)).toBe(block);
    const self = `/api/v1/blocks/${block.type}`;
    expect(block.links).toEqual({ self, collection: "/api/v1/blocks" });
    expect(block.type).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(BLOCK_KINDS).toContain(block.kind);
    expect(block.name.length).toBeGreaterThan(1);
    expect(block.description).toMatch(/\.$/);
  });

  it("has one input for each key, and a field only for keys that are inputs (rule 1)", () => {
    const keys = block.inputs.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(block.subBlocks.map(({ id }) => id).filter((id) => !keys.includes(id))).toEqual([]);
    // Every value has a field.
    expect(keys.filter((key) => !block.subBlocks.some(({ id }) => id === key))).toEqual([]);
  });

  it("has conditions about fields that it has, and values that these may have (rule 2)", () => {
    const conditions = block.subBlocks.flatMap(({ visibleWhen, requiredWhen }) => [
      visibleWhen,
      requiredWhen,
    ]);
    // One assertion for all problems: some thousand assertions would take most of this file's time.
    const wrong: string[] = [];
    const optionsOf = Map.groupBy(block.subBlocks, ({ id }) => id);
    while (conditions.length > 0) {
      const condition = conditions.pop();
      if (condition === undefined) continue;
      conditions.push(condition.and);
      const fields = optionsOf.get(condition.field) ?? [];
      if (fields.length === 0) wrong.push(condition.field);
      const ids = new Set<unknown>(
        fields.flatMap(({ options = [] }) => options.map(({ id }) => id)),
      );
      const unknown = ids.size === 0 ? [] : [condition.value].flat().filter((one) => !ids.has(one));
      wrong.push(...unknown.map((one) => `${condition.field}: ${String(one)}`));
    }
    expect(wrong).toEqual([]);
  });

  it("has options with an id and a label each, no id twice (rule 4)", () => {
    const wrong = block.subBlocks.filter(
      ({ options = [] }) =>
        new Set(options.map(({ id }) => id)).size !== options.length ||
        options.some(({ id, label }) => id === "" || label === ""),
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it("is JSON without any loss, and shows no class of ours", () => {
    expect(JSON.parse(JSON.stringify(block))).toEqual(block);
    expect(JSON.stringify(block)).not.toMatch(/"(?:_zod|\$schema|def)"/);
  });

  it("has actions that begin with its type, or none", () => {
    for (const action of block.actions) expect(action.startsWith(`${block.type}.`)).toBe(true);
    const field = block.subBlocks.find(({ id }) => id === "action");
    expect(field?.options?.map(({ id }) => id) ?? []).toEqual(block.actions);
    if (block.kind === "triggers") expect(block.actions).toEqual([]);
  });
});

it("the accounting block has 30 reports, and says what one consists of (rule 5)", () => {
  const block = findBlock("quickbooks");
  expect(block?.actions).toContain("quickbooks.runReport");
  const field = block?.subBlocks.find(({ id }) => id === "reportType");
  expect(field?.options).toHaveLength(30);
  expect(field).toMatchObject({ visibleWhen: { field: "action", value: "quickbooks.runReport" } });
  expect(block?.outputs).toEqual(expect.arrayContaining(["Header", "Columns", "Rows"]));
});

it("descriptions keep the spelling of identifiers that they begin with; words of ours have a capital", () => {
  const descriptionOf = (type: string, key: string) =>
    findBlock(type)?.inputs.find((input) => input.key === key)?.description;
  expect(descriptionOf("stripe", "customer")).toBe("cus_…");
  expect(descriptionOf("stripe", "payment_intent")).toBe(
    "pi_…; for stripe.createRefund needed unless charge is given",
  );
  expect(descriptionOf("sendgrid", "template_id")).toBe("d-…");
  expect(descriptionOf("slack", "reply_broadcast")).toBe("Only with thread_ts");
  for (const { id, actions } of PROVIDERS) {
    for (const { key, description } of actions.flatMap(inputsOf)) {
      const shown = descriptionOf(id, key);
      const isOwn = shown === description || shown?.startsWith(`${description}; `) === true;
      const isOfSeveral = /^(?:Needed|Not together|Only|For) /.test(shown ?? "");
      expect({ id, key, shown, fits: shown === undefined || isOwn || isOfSeveral }).toMatchObject({
        fits: true,
      });
    }
  }
});

it("types are unique over all kinds", () => {
  expect(new Set(blocks.map(({ type }) => type)).size).toBe(blocks.length);
  const byKind = BLOCK_KINDS.flatMap((kind) => listBlocks(kind));
  expect(new Set(byKind)).toEqual(new Set(blocks));
});

it.each(["action", "nope", "", "__proto__", "constructor", "HTTP", "stripe.createCustomer"])(
  "%j is no block that anybody sees",
  (type) => {
    expect(findBlock(type)).toBeUndefined();
    expect(blocks.map((block) => block.type)).not.toContain(type);
  },
);

describe.each(PROVIDERS.filter(({ actions }) => actions.length > 0))(
  "the provider $id",
  (provider) => {
    const block = findBlock(provider.id);
    if (block === undefined) throw new Error(`no block ${provider.id}`);

    it("is a block that needs a connection, with all of its actions", () => {
      expect(block).toMatchObject({
        kind: "integrations",
        name: provider.name,
        category: provider.category,
        connectionRequired: true,
        actions: provider.actions.map(({ name }) => `${provider.id}.${name}`),
      });
      const outputs = provider.actions.flatMap((action) => action.outputs);
      expect(new Set(block.outputs)).toEqual(new Set(outputs));
      const [action, connection] = block.subBlocks;
      expect(action).toMatchObject({ id: "action", required: true });
      expect(connection).toMatchObject({ id: "connectionId", type: "connection" });
    });

    it.each(provider.actions.map((action) => [action.name, action] as const))(
      "%s: the block's fields apply and are needed exactly as the action's inputs",
      (name, action) => {
        const inputs = inputsOf(action);
        const conditional = inputs.some(
          ({ visibleWhen, requiredWhen }) => (visibleWhen ?? requiredWhen) !== undefined,
        );
        fc.assert(
          fc.property(configsOf(inputs), (values) => {
            const config = { ...values, action: `${provider.id}.${name}` };
            expect(fieldsFor(block, config)).toEqual(wantedFields(inputs, config));
          }),
          { numRuns: conditional ? 20 : 1 },
        );
      },
    );

    it("has a trigger when its events come by a route of ours or through the broker (D40)", () => {
      const direct = ["stripe", "resend", "airwallex", "hubspot", "finance"].includes(provider.id);
      const trigger = findBlock(`${provider.id}-trigger`);
      expect(trigger !== undefined).toBe(direct || provider.auth.kind === "oauth");
      if (trigger === undefined) return;
      expect(trigger).toMatchObject({ kind: "triggers", actions: [], connectionRequired: true });
      const only = trigger.subBlocks.map(({ id, options }) => [id, options?.map((one) => one.id)]);
      expect(only).toEqual([
        ["type", ["webhook"]],
        ["provider", [provider.id]],
        ["path", undefined],
      ]);
    });
  },
);
