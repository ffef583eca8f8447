import { describe, expect, it } from "@jest/globals";
import { PROVIDERS } from "@workflow/catalog";
import type { ActionInput, FieldCondition } from "@workflow/catalog";
import { compileDefinition, planDefinition } from "../src/index.ts";
import { actionStep, stepProblems } from "./definition.ts";

const trigger = { type: "api" };

/** The problems of a step's config, without their common path. */
function problems(action: string, config: object): string[] {
  return stepProblems(actionStep("s", action, config)).map((problem) =>
    problem.replace("steps.0.config.", ""),
  );
}

const actions = PROVIDERS.flatMap(({ id, actions: all }) =>
  all.map((action) => [`${id}.${action.name}`, action] as const),
);

describe("a provider's action", () => {
  it.each(actions)("%s takes its example, and compiles", (id, { example }) => {
    const step = actionStep("s", id, { connectionId: "conn_1", ...example });
    expect(stepProblems(step)).toEqual([]);
    const { steps } = compileDefinition({ trigger, steps: [step] });
    expect(steps).toMatchObject([{ type: "action", action: id }]);
  });

  it.each(actions)("%s takes a template for each of its inputs", (id, { inputs }) => {
    const config = Object.fromEntries(inputs.map(({ key }) => [key, "{{input.value}}"]));
    expect(problems(id, config)).toEqual([]);
  });

  it.each(actions)("%s names each input that it needs", (id, { inputs }) => {
    const needed = inputs.filter((input) => input.required && input.visibleWhen === undefined);
    const missing = needed.map(({ key }) => `${key}: is required`);
    expect(problems(id, {})).toEqual(expect.arrayContaining(missing));
    expect(problems(id, Object.fromEntries(needed.map(({ key }) => [key, ""])))).toEqual(
      expect.arrayContaining(missing),
    );
  });

  it.each(actions)(
    "%s names what it needs under a condition, while that holds",
    (id, { inputs }) => {
      const conditional = inputs.filter(
        ({ required, requiredWhen, visibleWhen }) =>
          requiredWhen !== undefined || (required === true && visibleWhen !== undefined),
      );
      for (const { key, visibleWhen, requiredWhen } of conditional) {
        const config = { ...valuesFor(visibleWhen, inputs), ...valuesFor(requiredWhen, inputs) };
        const missing = expect.stringMatching(new RegExp(`^${key}: is required`));
        expect(problems(id, config)).toContainEqual(missing);
        // A template may give the value that requires the input, or another, so no problem is reported.
        const fields = Object.keys(config).map((field) => [field, "{{input.x}}"]);
        expect(problems(id, Object.fromEntries(fields))).not.toContainEqual(missing);
      }
    },
  );
});

/** Values with which a condition holds. */
function valuesFor(
  condition: FieldCondition | undefined,
  inputs: readonly ActionInput[],
): Record<string, unknown> {
  if (condition === undefined) return {};
  const { field, value, not = false, and } = condition;
  const named: unknown[] = [value].flat();
  const options = inputs.find(({ key }) => key === field)?.options?.map(({ id }) => id);
  const others: unknown[] = [...(options ?? []), true, "other", ""];
  const fitting = not ? others.find((other) => !named.includes(other)) : named[0];
  return { [field]: fitting, ...valuesFor(and, inputs) };
}

describe("values", () => {
  const refund = "stripe.createRefund";
  const of = (config: object) => problems(refund, { payment_intent: "pi_1", ...config });

  it("are checked by the schema of their input, at their place", () => {
    expect(of({ amount: "12" })).toEqual([
      "amount: must be a number, not a string (or a template such as {{input.value}})",
    ]);
    expect(of({ amount: 0 })).toEqual([
      "amount: must be at least 1 (or a template such as {{input.value}})",
    ]);
    expect(of({ metadata: [] })).toEqual([
      "metadata: must be an object, not an array (or a template such as {{input.value}})",
    ]);
  });

  it("of a number are one template, and nothing beside it", () => {
    expect(of({ amount: "{{input.a}}" })).toEqual([]);
    expect(of({ amount: "{{input.a}}0" })).toEqual([
      "amount: must be a number, not a string (or one template with nothing beside it, such as {{input.value}})",
    ]);
  });

  it("of a choice are ids; a label is told its id", () => {
    expect(of({ reason: "duplicate" })).toEqual([]);
    expect(of({ reason: "{{input.why}}_by_customer" })).toEqual([]);
    expect(of({ reason: "because" })).toEqual([
      'reason: must be "duplicate", "fraudulent" or "requested_by_customer" (or a template such as {{input.value}})',
    ]);
  });

  it("of a choice may not be labels, whatever the action", () => {
    const labelled = actions.flatMap(([id, action]) =>
      action.inputs.flatMap(({ key, options = [] }) => {
        const option = options.find((one) => options.every((other) => other.id !== one.label));
        return option === undefined ? [] : [{ id, key, option, example: action.example }];
      }),
    );
    expect(labelled.length).toBeGreaterThan(3);
    for (const { id, key, option, example } of labelled) {
      const found = problems(id, { ...example, [key]: option.label });
      // A field may not apply to the example.
      if (problems(id, { ...example, [key]: 7 }).every((one) => !one.startsWith(key))) continue;
      expect(found).toContainEqual(
        expect.stringContaining(
          `${key}: must be the option's id ${JSON.stringify(option.id)}, not its label`,
        ),
      );
    }
  });

  it("of a choice with many options are told the nearest ones", () => {
    expect(problems("quickbooks.runReport", { reportType: "BalanceShet" })).toEqual([
      'reportType: must be one of the 30 options of reportType, "BalanceSheet" for example; the catalog (GET /blocks) lists them (or a template such as {{input.value}})',
    ]);
  });

  it("under a name that the provider gave up are told the new one, templates too", () => {
    const intent = { amount: 1, currency: "usd" };
    for (const value of [["card"], "{{input.methods}}"]) {
      const config = { ...intent, payment_method_types: value };
      expect(problems("stripe.createPaymentIntent", config)).toEqual([
        "payment_method_types: is no longer taken by the provider; give allowed_payment_method_types instead",
      ]);
    }
    const config = { ...intent, payment_method_types: null };
    expect(problems("stripe.createPaymentIntent", config)).toEqual([]);
  });

  it("that have no effect without another are refused where they ask for one", () => {
    const message = (more: object) =>
      problems("slack.sendMessage", { channel: "C1", text: "Hi", ...more });
    expect(message({ reply_broadcast: true })).toEqual([
      "reply_broadcast: must only be given together with thread_ts",
    ]);
    expect(message({ reply_broadcast: false, blocks: [] })).toEqual([]);
    expect(message({ reply_broadcast: null })).toEqual([]);
    expect(message({ reply_broadcast: true, thread_ts: "{{input.thread}}" })).toEqual([]);
  });

  it("that are too many to be looked at are refused as a whole", () => {
    const many = Array.from({ length: 10_001 }, () => 1);
    expect(problems("stripe.createSubscription", { customer: "c", items: many })).toEqual([
      "items: is too large: arrays and objects of an action's inputs have at most 10000 entries together",
    ]);
  });

  it("that nobody asked for are left alone", () => {
    expect(of({ newer: 1, charge: null, reason: "" })).toEqual([]);
  });

  it("have their templates read: a bad one is told", () => {
    expect(of({ metadata: { a: "{{steps.gone.output}}", b: "{{nope}}" } })).toEqual([
      expect.stringContaining("metadata.b: The template {{nope}} is not valid"),
      expect.stringContaining("metadata.a: "),
    ]);
  });
});

describe("an unknown action", () => {
  const unknown = (action: string) => stepProblems(actionStep("s", action, {}));

  it("is told which ones come near", () => {
    expect(unknown("strip.createCustomer")).toEqual([
      expect.stringMatching(
        /^steps.0.action: is not a known action; did you mean "stripe.createCustomer".*\? The catalog \(GET \/blocks\) lists all$/,
      ),
    ]);
  });

  it("is told where all are when none is near, however long it is", () => {
    for (const id of ["launchRocket", "x".repeat(1_000_000), "a.b.c", "__proto__.constructor"]) {
      expect(unknown(id)).toEqual([
        "steps.0.action: is not a known action; the catalog (GET /blocks) lists all",
      ]);
    }
  });
});

it("a plan finds nothing wrong with what templates leave without effect, as the step doesn't", () => {
  const config = { channel: "C1", text: "Hi", thread_ts: "{{input.t}}", reply_broadcast: true };
  const options = { violations: [], workflowId: "w", version: 1, now: new Date(0) };
  const definition = { trigger, steps: [actionStep("s", "slack.sendMessage", config)] };
  for (const input of [{}, { t: "" }, { t: "1712345678.123456" }]) {
    expect(planDefinition(definition, { ...options, input }).problems).toEqual([]);
  }
});

it("a plan tells what a provider's action lacks once templates have values", () => {
  const steps = [
    actionStep("s", "stripe.createRefund", { payment_intent: "pi_1", amount: "{{input.amount}}" }),
  ];
  const options = { violations: [], workflowId: "w", version: 1, now: new Date(0) };
  const plan = planDefinition({ trigger, steps }, { ...options, input: { amount: "many" } });
  expect(plan.problems).toEqual([
    {
      path: ["steps", "0", "config", "amount"],
      message: expect.stringMatching(/^must be a number, not a string/),
    },
  ]);
});
