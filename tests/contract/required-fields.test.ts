import { describe, expect, it } from "@jest/globals";
import { findBlock, listBlocks, PROVIDERS } from "@workflow/catalog";
import { validateDefinition } from "@workflow/definition";
import { fc } from "@workflow/testkit/property-test";
import { z } from "zod";
import { ACTION_EXAMPLES, STEP_EXAMPLES } from "../support/step-examples.ts";

/*
 * A client knows the contract's rules 2 and 3 and the JSON of GET /blocks, nothing of our engine. What it finds
 * mandatory by them has to be what validation refuses to go without.
 */

const conditionSchema = z.strictObject({
  field: z.string(),
  value: z.unknown(),
  not: z.boolean().optional(),
  get and() {
    return conditionSchema.optional();
  },
});
type Condition = z.infer<typeof conditionSchema>;

const blockSchema = z.object({
  type: z.string(),
  kind: z.string(),
  actions: z.array(z.string()),
  inputs: z.array(
    z.object({ key: z.string(), type: z.string(), description: z.string().optional() }),
  ),
  subBlocks: z.array(
    z.object({
      id: z.string(),
      required: z.boolean().optional(),
      requiredWhen: conditionSchema.optional(),
      visibleWhen: conditionSchema.optional(),
      options: z.array(z.object({ id: z.string() })).optional(),
    }),
  ),
});
type ClientBlock = z.infer<typeof blockSchema>;
type Config = Readonly<Record<string, unknown>>;

/** Rule 2, to the letter. */
function matches({ field, value, not = false, and }: Condition, config: Config): boolean {
  const actual = config[field];
  const equal = Array.isArray(value) ? value.includes(actual) : actual === value;
  return equal !== not && (and === undefined || matches(and, config));
}

/** The keys whose fields apply. */
function visibleKeys({ subBlocks }: ClientBlock, config: Config): string[] {
  const visible = subBlocks.filter(
    ({ visibleWhen }) => visibleWhen === undefined || matches(visibleWhen, config),
  );
  return visible.map(({ id }) => id);
}

/** Rule 3: the keys that a configuration must have. */
function mandatoryKeys({ subBlocks }: ClientBlock, config: Config): Set<string> {
  const mandatory = subBlocks.filter(({ visibleWhen, required, requiredWhen }) => {
    if (visibleWhen !== undefined && !matches(visibleWhen, config)) return false;
    return required === true || (requiredWhen !== undefined && matches(requiredWhen, config));
  });
  return new Set(mandatory.map(({ id }) => id));
}

function keysOf({ subBlocks }: ClientBlock): string[] {
  return [...new Set(subBlocks.map(({ id }) => id))];
}

/** As it comes over the wire. */
function asClient(block: unknown): ClientBlock {
  return blockSchema.parse(JSON.parse(JSON.stringify(block)));
}

/** A step, or a trigger, that a block makes, and where its config is. */
interface Made {
  readonly definition: { trigger: unknown; steps: unknown };
  readonly path: readonly string[];
}

function make(block: ClientBlock, config: Config): Made {
  if (block.kind === "triggers") {
    return { definition: { trigger: config, steps: [] }, path: ["trigger"] };
  }
  const { action, ...rest } = config;
  const type = action === undefined ? block.type : "action";
  const step = { id: "s", type, name: "S", ...(action !== undefined && { action }), config: rest };
  return {
    definition: { trigger: { type: "api" }, steps: [step] },
    path: ["steps", "0", "config"],
  };
}

/** The keys that are not there, and that validation finds wrong. */
function missedKeys(block: ClientBlock, config: Config): Set<string> {
  const { definition, path } = make(block, config);
  const result = validateDefinition(definition, { expressions: new Map() });
  const missed = result.ok
    ? []
    : result.violations.flatMap(({ path: [...place] }) => {
        const key = place.pop() ?? "";
        const isHere = place.join(".") === path.join(".");
        return isHere && !Object.hasOwn(config, key) ? [key] : [];
      });
  return new Set(missed);
}

/** Whether a description says that the key is needed here because of others: no condition can say so. */
function isNeededByOthers({ inputs }: ClientBlock, key: string, config: Config): boolean {
  const { description = "" } = inputs.find((input) => input.key === key) ?? {};
  const isGiven = (other: string): boolean => Object.hasOwn(config, other);
  return description.split("; ").some((part) => {
    const [, actions, rule = ""] = /^(?:[Ff]or ([\w., -]+?) )?([Nn]eeded .*)$/.exec(part) ?? [];
    const isMeant = actions?.split(/, | and /).includes(String(config["action"])) ?? true;
    const [, others] = /^[Nn]eeded unless ([\w, ]+?) is given/.exec(rule) ?? [];
    const [, beside] = /^needed with (\w+)/.exec(rule) ?? [];
    const isAlone = others?.split(/, | or /).some(isGiven) === false;
    return isMeant && (isAlone || (beside !== undefined && isGiven(beside)));
  });
}

/** Each key may be left out, and has values that conditions name, or others. */
function configsOf(block: ClientBlock, fixed: Config): fc.Arbitrary<Config> {
  const keys = keysOf(block).filter((key) => !Object.hasOwn(fixed, key) && key !== "action");
  const named = keys.map((key) => [key, fc.option(valueOf(block, key), { nil: undefined })]);
  return fc.record(Object.fromEntries(named)).map((config) => ({
    ...Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)),
    ...fixed,
  }));
}

function valueOf({ subBlocks, inputs }: ClientBlock, key: string): fc.Arbitrary<unknown> {
  const options = subBlocks.flatMap((field) => (field.id === key ? (field.options ?? []) : []));
  if (options.length > 0) return fc.constantFrom(...options.map(({ id }) => id));
  const type = inputs.find((input) => input.key === key)?.type ?? "json";
  const values: Record<string, readonly unknown[]> = {
    string: ["x", "a@b.example"],
    number: [1, 0],
    boolean: [true, false],
    array: [["x"], [{}]],
  };
  return fc.constantFrom(...(values[type] ?? [{}, ["x"]]));
}

/** What makes a block's config this block's: the action, or a trigger's type and provider. */
function choicesOf(block: ClientBlock): Config[] {
  if (block.kind === "triggers") {
    const fixed = block.subBlocks.filter(
      ({ options, required }) => required === true && options?.length === 1,
    );
    return [Object.fromEntries(fixed.map(({ id, options }) => [id, options?.[0]?.id]))];
  }
  const byAction = block.actions.map((action) => ({ action }));
  const needsAction = block.subBlocks.some(({ id, required }) => id === "action" && required);
  return needsAction ? byAction : [...byAction, {}];
}

/** The action's id, or the type of a block without. */
function nameOf({ type }: ClientBlock, { action }: Config): string {
  return typeof action === "string" ? action : type;
}

const examples = new Map<string, object>([
  ...PROVIDERS.flatMap(({ id, actions }) =>
    actions.map(({ name, example }) => [`${id}.${name}`, example] as const),
  ),
  ...Object.entries(ACTION_EXAMPLES),
]);

const all = listBlocks()
  .map(asClient)
  .flatMap((block) =>
    choicesOf(block).map((fixed) => ({
      name: nameOf(block, fixed),
      block,
      fixed,
    })),
  );

describe("what the contract's rules find mandatory, validation refuses to go without", () => {
  it.each(all)("$name", ({ block, fixed }) => {
    fc.assert(
      fc.property(configsOf(block, fixed), (config) => {
        const told = visibleKeys(block, config).filter((key) =>
          isNeededByOthers(block, key, config),
        );
        const mandatory = [...mandatoryKeys(block, config), ...told];
        // A step type of several ways may say so of its config as a whole; an action names the key.
        const isOpen = (key: string) => config["action"] === undefined && told.includes(key);
        const missing = mandatory.filter((key) => !(key in config) && !isOpen(key));
        const missed = [...missedKeys(block, config)].filter((key) => !isOpen(key));
        expect(new Set(missed)).toEqual(new Set(missing));
      }),
      { numRuns: 20 },
    );
  });
});

describe("an example has all that the rules find mandatory", () => {
  const withExample = all.flatMap(({ name, block, fixed }) => {
    const step = z.object({ config: z.record(z.string(), z.unknown()) });
    const shown = examples.get(name) ?? step.safeParse(STEP_EXAMPLES[name]).data?.config;
    return shown === undefined ? [] : [{ name, block, config: { ...shown, ...fixed } }];
  });

  it.each(withExample)("$name", ({ block, config }) => {
    expect([...mandatoryKeys(block, config)].filter((key) => !(key in config))).toEqual([]);
    expect([...missedKeys(block, config)]).toEqual([]);
  });

  it("and there is one of every action and step", () => {
    const shown = new Set(withExample.map(({ name }) => name));
    const missing = all.filter(({ name, block }) => block.kind !== "triggers" && !shown.has(name));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });
});

describe("conditions", () => {
  it("compare with something that can be given: no client has to know what a missing field is", () => {
    for (const { subBlocks } of listBlocks().map(asClient)) {
      const conditions = subBlocks.flatMap(({ visibleWhen, requiredWhen }) => [
        visibleWhen,
        requiredWhen,
      ]);
      while (conditions.length > 0) {
        const condition = conditions.pop();
        if (condition === undefined) continue;
        conditions.push(condition.and);
        const values = [condition.value].flat();
        expect(values).not.toEqual([]);
        expect(values).not.toContain("");
        expect(values).not.toContain(null);
      }
    }
  });

  it("that are about several fields at once are told by descriptions", () => {
    const { inputs } = asClient(findBlock("email"));
    const said = Object.fromEntries(inputs.map(({ key, description }) => [key, description]));
    expect(said["text"]).toBe("The message as plain text; needed unless html is given");
    const stripe = asClient(findBlock("stripe")).inputs;
    expect(stripe.find(({ key }) => key === "currency")?.description).toContain(
      "for stripe.createInvoiceItem needed unless price is given, not together with price",
    );
  });
});
