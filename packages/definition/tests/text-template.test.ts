import { describe, expect, it } from "@jest/globals";
import { isStorableText } from "@workflow/json";
import { fc } from "@workflow/testkit/property-test";
import { compileDefinition, evaluate, renderText, TemplateError } from "../src/index.ts";
import type { EvaluatedValue, TemplateScope } from "../src/index.ts";
import { actionStep, stepProblems } from "./definition.ts";

describe("renderText", () => {
  it.each<[string, unknown, string]>([
    ["Hello {{name}}!", { name: "Ada" }, "Hello Ada!"],
    ["{{ a.b[0] }}{{a['b'][1]}}", { a: { b: [1, true] } }, "1true"],
    ["[{{missing}}{{a.b.c}}{{n}}]", { a: 1, n: null }, "[]"],
    ["{{o}} {{l}}", { o: { x: 1 }, l: [1, "b"] }, '{"x":1} [1,"b"]'],
    ["{{a}}", { a: "{{b}}", b: "never" }, "{{b}}"],
    [String.raw`\{{a}} \\{{a}} C:\\\{{a}}`, { a: 1 }, String.raw`{{a}} \1 C:\\\1`],
    ["{{constructor}}{{a.length}}{{__proto__}}{{toString.name}}", { a: [1] }, ""],
    ["{{input.x}}", { input: { x: "from values" } }, "from values"],
    ["{{\"a }} b\"}}{{ 'c' }}", {}, "a }} bc"],
    ["{{a}}", "no object", ""],
    ["{{a}}", null, ""],
    ["no placeholders }}", {}, "no placeholders }}"],
  ])("%j with %j is %j", (template, values, text) => {
    expect(renderText(template, values)).toBe(text);
  });

  it("leaves a text alone that has no values", () => {
    expect(renderText(String.raw`{{a}} \{{b}} {{`, undefined)).toBe(String.raw`{{a}} \{{b}} {{`);
  });

  it("stops before a result of more than 1 MiB is built", () => {
    const values = { a: "x".repeat(1024) };
    expect(renderText("{{a}}".repeat(1000), values)).toHaveLength(1_024_000);
    expect(() => renderText("{{a}}".repeat(1025), values)).toThrow(TemplateError);
  });

  it.each([["{{"], ["{{a b}}"], ["{{a.}}"], ["{{1 + 1}}"], ["{{}}"], ["{{a[x]}}"]])(
    "refuses %j",
    (template) => {
      expect(() => renderText(template, {})).toThrow(TemplateError);
    },
  );

  it("never throws anything else, and never looks at what a value brings in", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, value) => {
        const text = before.replaceAll(/[{\\]/g, "");
        expect(renderText(`${text}{{v}}${text}`, { v: value })).toBe(`${text}${value}${text}`);
        try {
          renderText(before, { v: value });
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
      }),
    );
  });
});

const scope: TemplateScope = {
  input: { name: "Ada", text: "Dear {{who}}", braces: "{{who}} \\", list: [1] },
  trigger: {},
  run: {},
  steps: new Map(),
  secrets: new Map([["KEY", "hunter2"]]),
};

/** The inputs that the runtime passes to the action, and the resulting text. */
function fill(config: object): EvaluatedValue & { text: string } {
  const [step] = compileDefinition({
    trigger: { type: "api" },
    steps: [actionStep("s", "text.template", config)],
  }).steps;
  if (step?.type !== "action") throw new Error("expected an action");
  const inputs = evaluate(step.inputs, scope);
  const { template, values } = Object.fromEntries(Object.entries(Object(inputs.value)));
  return { ...inputs, text: renderText(String(template), values) };
}

describe("the action text.template", () => {
  it.each<[string, object, string]>([
    ["values by name", { template: "Hi {{who}}", values: { who: "{{input.name}}" } }, "Hi Ada"],
    ["templates without values", { template: "Hi {{input.name}}" }, "Hi Ada"],
    [
      "both in one text",
      { template: "{{input.name}} and {{who}}", values: { who: "Bob" } },
      "Ada and Bob",
    ],
    ["values from a template", { template: "Hi {{name}}", values: "{{input}}" }, "Hi Ada"],
    [
      "a text from a template, with values",
      { template: "{{input.text}}", values: { who: "Bob" } },
      "Dear Bob",
    ],
    ["a text from a template, without values", { template: "{{input.text}}" }, "Dear {{who}}"],
    [
      "what a template brings is not looked at again",
      { template: "{{input.text}}, {{who}}", values: { who: "Bob" } },
      "Dear {{who}}, Bob",
    ],
    [
      "whatever stands at its edges",
      { template: "{{input.braces}}{{who}}{{input.braces}}", values: { who: "Bob" } },
      "{{who}} \\Bob{{who}} \\",
    ],
    [
      "objects and missing ones",
      { template: "{{input.list}}|{{input.nope}}|{{nope}}", values: {} },
      "[1]||",
    ],
    [
      "escaped braces",
      { template: String.raw`\{{who}} \{{input.name}} {{who}}`, values: { who: 1 } },
      "{{who}} {{input.name}} 1",
    ],
    ["no placeholder at all", { template: "plain", values: {} }, "plain"],
  ])("fills in %s", (_, config, text) => {
    expect(stepProblems(actionStep("s", "text.template", config))).toEqual([]);
    expect(fill(config).text).toBe(text);
  });

  it("keeps a secret out of the stored input", () => {
    const config = { template: "{{secrets.KEY}} {{who}}", values: { who: "{{secrets.KEY}}" } };
    const { text, masked } = fill(config);
    expect(text).toBe("hunter2 hunter2");
    expect(JSON.stringify(masked)).not.toContain("hunter2");
    expect(masked).toMatchObject({ values: { who: "••••" } });
  });

  it.each<[object, string]>([
    [
      { template: "{{who}}" },
      'config.template: The template {{who}} is not valid: unknown root "who"',
    ],
    [{ template: "{{who", values: {} }, "config.template: The template {{who is not valid"],
    [{ template: "{{a + b}}", values: {} }, "config.template: The template {{a + b}} is not valid"],
    [{ template: "{{steps}}", values: {} }, "config.template: The template {{steps}} is not valid"],
    [{ template: "{{steps.no.output}}, {{a}}", values: {} }, 'refers to step "no", which does not'],
    [{ template: "{{a}}", values: { a: "{{b}}" } }, "config.values.a: The template {{b}} is not"],
    [{ template: "{{a}}", values: [] }, "config.values: must be an object, not an array"],
    [{ values: {} }, "config.template: is required and must be a string"],
    [{ template: 5, values: {} }, "config.template: must be a string, not a number"],
  ])("refuses %j", (config, problem) => {
    expect(stepProblems(actionStep("s", "text.template", config))).toEqual([
      expect.stringContaining(problem),
    ]);
  });

  it("brings any text through unchanged, between any others", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (value) => {
        fc.pre(isStorableText(value));
        const [step] = compileDefinition({
          trigger: { type: "api" },
          steps: [
            actionStep("s", "text.template", {
              template: "{{who}}{{input.v}}{{who}}{{input.v}}",
              values: { who: "{{input.v}}" },
            }),
          ],
        }).steps;
        if (step?.type !== "action") throw new Error("expected an action");
        const inputs = evaluate(step.inputs, { ...scope, input: { v: value } }).value;
        const { template, values } = Object.fromEntries(Object.entries(Object(inputs)));
        expect(renderText(String(template), values)).toBe(value.repeat(4));
      }),
    );
  });
});
