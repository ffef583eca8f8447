import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import {
  compileDefinition,
  compileJsonSchema,
  describeActions,
  describeStepTypes,
  planDefinition,
  validateDefinition,
} from "../src/index.ts";
import { conditionStep, loopStep, mappingStep, parallelStep, step } from "./definition.ts";

const trigger = { type: "api" };
const types = describeStepTypes();
const actions = describeActions();
const options = { input: {}, workflowId: "w", version: 1, now: new Date(0) };

/** Any JSON, with templates in some texts. */
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown[]>(
      null,
      true,
      0,
      1e9,
      -1,
      "",
      "a",
      "a@b.c",
      "https://x.y",
      "{{input.a}}",
      "{{steps.s0.output}}",
      "{{loop.item}}",
      "{{secrets.K}} {{",
      "{{__proto__}}",
      { left: "{{input.a}}", operator: "exists" },
    ),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "__proto__", "type", "steps", "id"), tie("value"), {
      maxKeys: 3,
    }),
  ),
}));

/** Valid configs of every type, to be changed at random. */
const CONFIGS: Readonly<Record<string, object>> = {
  action: { output: 1 },
  email: { to: "a@b.c", subject: "s", text: "t" },
  transform: { mapping: 1 },
  condition: { branches: [{ id: "x", when: { left: 1, operator: "exists" }, steps: [] }] },
  parallel: { branches: [{ steps: [mappingStep("p1", 1)] }] },
  loop: { count: 1, steps: [mappingStep("l1", "{{loop.item}}")] },
  agent: { agentId: "a", input: {} },
  delay: { durationMs: 1 },
  approval: { message: "m" },
  workflow: { workflowId: "{{input.id}}" },
};
const INPUTS: Readonly<Record<string, object>> = {
  "http.request": { method: "GET", url: "https://x.y" },
  "table.query": { tableId: "t" },
  "table.insert": { tableId: "t", data: {} },
  "table.update": { tableId: "t", rowId: "r", data: {} },
  "table.delete": { tableId: "t", rowId: "r" },
  "json.parse": { text: "{}" },
  "json.stringify": { value: 1 },
  "text.template": { template: "{{a}}", values: {} },
  "datetime.format": { value: 0, format: "y" },
  "datetime.add": { value: 0, amount: 1, unit: "days" },
  "datetime.diff": { from: 0, to: 1, unit: "days" },
  "crypto.hash": { algorithm: "sha256", text: "x" },
  "crypto.hmac": { algorithm: "sha256", text: "x", key: "k" },
  "workflow.respond": { output: 1 },
};

/** A config that was valid before any of its members were replaced, added or taken away. */
function anyConfig(schema: unknown, valid: object | undefined): fc.Arbitrary<object> {
  const names = Object.keys(Object(Object(schema).properties)).concat("__proto__");
  const changes = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(anyValue, fc.constant(undefined)),
    { maxKeys: 2 },
  );
  return changes.map((changed) => JSON.parse(JSON.stringify({ ...valid, ...changed })));
}

const anyTypedStep = fc
  .constantFrom(...types)
  .chain(({ type, configSchema }) =>
    anyConfig(configSchema, CONFIGS[type]).map((config) => ({ type, configSchema, config })),
  );
const anyActionStep = fc
  .constantFrom(...actions)
  .chain(({ id, inputSchema }) =>
    anyConfig(inputSchema, INPUTS[id]).map((config) => ({ id, inputSchema, config })),
  );

/** A list of nested steps with unique ids. */
const { block: anyBlock } = fc.letrec<{ block: unknown[]; step: unknown }>((tie) => ({
  block: fc.array(tie("step"), { maxLength: 3 }),
  step: fc.oneof(
    { maxDepth: 4 },
    { arbitrary: anyValue, weight: 1 },
    {
      arbitrary: fc
        .tuple(anyTypedStep, fc.uuid(), tie("block"))
        .map(([{ type, config }, id, inside]) => {
          const held = "steps" in config ? { ...config, steps: inside } : config;
          return step(type, id, held, { action: "workflow.respond" });
        }),
      weight: 9,
    },
  ),
}));

/** Zod ignores a member named `__proto__`; a validator of JSON Schema does not. */
function isPlain(config: object): boolean {
  return !JSON.stringify(config).includes('"__proto__":');
}

describe("any definition", () => {
  it("is judged and planned without an error, and runs when it was found valid", () => {
    fc.assert(
      fc.property(anyBlock, (steps) => {
        const definition = { trigger, steps };
        const before = JSON.stringify(steps);
        const result = validateDefinition(definition);
        const violations = result.ok ? [] : result.violations;
        const plan = planDefinition(definition, { ...options, violations });
        expect(JSON.stringify(steps)).toBe(before);
        if (!result.ok) {
          expect(plan.valid).toBe(false);
          return;
        }
        const compiled = compileDefinition(definition);
        expect(plan.secretKeys).toEqual(compiled.secretKeys);
      }),
      { numRuns: 1_000 },
    );
  });

  it("with a config that is valid has one that the published schema takes, too", () => {
    fc.assert(
      fc.property(anyTypedStep, ({ type, configSchema, config }) => {
        fc.pre(isPlain(config));
        const example = step(type, "s1", config, { action: "workflow.respond" });
        if (!validateDefinition({ trigger, steps: [mappingStep("s0", 1), example] }).ok) return;
        expect(violations(configSchema, config)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("of an action likewise", () => {
    fc.assert(
      fc.property(anyActionStep, ({ id, inputSchema, config }) => {
        fc.pre(isPlain(config));
        const example = step("action", "s1", config, { action: id });
        if (!validateDefinition({ trigger, steps: [mappingStep("s0", 1), example] }).ok) return;
        expect(violations(inputSchema, config)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});

function violations(schema: unknown, value: unknown): unknown[] {
  const compiled = compileJsonSchema(schema);
  return compiled.ok ? compiled.validate(value) : compiled.violations;
}

describe("limits", () => {
  it("1,000 steps are accepted however they are nested, and 1,001 are not", () => {
    const inner = Array.from({ length: 333 }, (_, index) => mappingStep(`a${index}`, 1));
    const more = Array.from({ length: 664 }, (_, index) =>
      mappingStep(`b${index}`, "{{steps.a0.output}}"),
    );
    const steps = [loopStep("l", [parallelStep("p", [inner])]), ...more];
    expect(validateDefinition({ trigger, steps: [...steps, mappingStep("c", 1)] }).ok).toBe(true);
    const tooMany = [...steps, mappingStep("c", 1), mappingStep("d", 1)];
    expect(validateDefinition({ trigger, steps: tooMany })).toMatchObject({
      violations: [{ path: ["steps"], message: "a workflow has at most 1000 steps in all" }],
    });
  });

  it("blocks nest 20 deep, in whatever mixture", () => {
    const nest = (levels: number): object[] => {
      let steps = [mappingStep("x", 1)];
      for (let level = 0; level < levels; level += 1) {
        const id = `n${level}`;
        const form = level % 3;
        if (form === 0) steps = [loopStep(id, steps)];
        else steps = form === 1 ? [parallelStep(id, [steps])] : [conditionStep(id, [steps])];
      }
      return steps;
    };
    expect(validateDefinition({ trigger, steps: nest(20) }).ok).toBe(true);
    expect(validateDefinition({ trigger, steps: nest(21) })).toMatchObject({
      violations: [{ message: "steps nest at most 20 deep" }],
    });
  });

  it("problems are told at once, at most 50", () => {
    const bad = (id: string) => step("loop", id, { count: 1e9, steps: [{}], maxIterations: 0 });
    const result = validateDefinition({
      trigger,
      steps: Array.from({ length: 1_000 }, (_, index) => bad(`l${index}`)),
    });
    if (result.ok) throw new Error("expected violations");
    expect(result.violations).toHaveLength(50);
  });
});
