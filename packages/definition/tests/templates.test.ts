import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import {
  TemplateError,
  compileTemplates,
  evaluate,
  listReferences,
  scanTemplates,
} from "../src/index.ts";
import type { TemplateScope } from "../src/index.ts";

const scope: TemplateScope = {
  input: {
    name: "Ada",
    count: 3,
    ok: false,
    nothing: null,
    list: [{ id: "a" }, { id: "b" }],
    "odd key": 1,
    'quote"d': 2,
    größe: 7,
    template: "{{input.name}}",
  },
  trigger: { headers: { "x-id": "h" } },
  run: { id: "run_1", version: 2 },
  loop: { item: { sku: 9 }, index: 4 },
  steps: new Map([
    ["fetch", { output: { rows: [1, 2] } }],
    ["0190a5e2-7c3f-7aaa-8000-000000000001", { output: "by uuid" }],
  ]),
  secrets: new Map([["API_KEY", "s3cr3t"]]),
};

function resolve(value: unknown): unknown {
  return evaluate(compileTemplates(value), scope).value;
}

function errorOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("a string that is one template keeps the type", () => {
  it.each([
    ["{{input.count}}", 3],
    ["{{ input.ok }}", false],
    ["{{\tinput.list[1]\n}}", { id: "b" }],
    ["{{input.list.0.id}}", "a"],
    ["{{input.list[ 0 ]['id']}}", "a"],
    ['{{input["odd key"]}}', 1],
    ["{{input['odd key']}}", 1],
    ['{{input["quote\\"d"]}}', 2],
    ['{{input["\\u006eame"]}}', "Ada"],
    ["{{input.größe}}", 7],
    ["{{trigger.headers.x-id}}", "h"],
    ["{{run.version}}", 2],
    ["{{loop.item.sku}}", 9],
    ["{{loop.index}}", 4],
    ["{{steps.fetch.output.rows[1]}}", 2],
    ["{{steps.0190a5e2-7c3f-7aaa-8000-000000000001.output}}", "by uuid"],
    ['{{steps["fetch"].output.rows}}', [1, 2]],
    ["{{secrets.API_KEY}}", "s3cr3t"],
    ["{{input.nothing}}", null],
    ["{{input.missing.deep[3]}}", null],
    ["{{steps.absent.output}}", null],
  ])("%s", (template, expected) => {
    expect(resolve(template)).toEqual(expected);
  });

  it("hands out the very value of the scope", () => {
    expect(resolve("{{input}}")).toBe(scope.input);
  });
});

describe("in a longer string values become text", () => {
  it.each([
    ["Hello {{input.name}}!", "Hello Ada!"],
    ["{{input.count}}{{input.count}}", "33"],
    ["ok={{input.ok}}", "ok=false"],
    [" {{input.count}}", " 3"],
    ["rows: {{steps.fetch.output.rows}}", "rows: [1,2]"],
    ["[{{input.nothing}}{{input.missing}}]", "[]"],
    ["{ {{input.count}} }", "{ 3 }"],
    ["\\{{input.name}} is {{input.name}}", "{{input.name}} is Ada"],
    ["\\{{input.name}}", "{{input.name}}"],
    ["C:\\\\{{input.name}}", "C:\\Ada"],
    ["}} {{input.count}} }}", "}} 3 }}"],
  ])("%s", (template, expected) => {
    expect(resolve(template)).toBe(expected);
  });
});

describe("values", () => {
  it("resolves inside arrays and objects, and leaves keys alone", () => {
    expect(
      resolve({ a: ["{{input.count}}", { "{{input.name}}": "{{input.name}}" }], b: 1 }),
    ).toEqual({
      a: [3, { "{{input.name}}": "Ada" }],
      b: 1,
    });
  });

  it("evaluates once: a template that a template brings in stays text", () => {
    expect(resolve("{{input.template}}")).toBe("{{input.name}}");
    expect(resolve("<{{input.template}}>")).toBe("<{{input.name}}>");
  });

  it("keeps an own __proto__ key an own key", () => {
    const value: unknown = JSON.parse('{"__proto__": "{{input.count}}"}');
    expect(JSON.stringify(resolve(value))).toBe('{"__proto__":3}');
  });

  it("returns a value without templates as the same object", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes("{{"));
        expect(resolve(value)).toBe(value);
      }),
    );
  });
});

describe("only own properties exist", () => {
  it.each([
    "{{input.__proto__}}",
    "{{input.__proto__.x}}",
    "{{input.constructor}}",
    "{{input.constructor.constructor}}",
    "{{input.toString}}",
    "{{input.list.length}}",
    "{{input.list.map}}",
    "{{input.list[99]}}",
    "{{input.name.length}}",
    "{{input.name[0]}}",
    "{{run.hasOwnProperty}}",
    '{{input["__proto__"]["polluted"]}}',
  ])("%s is null", (template) => {
    expect(resolve(template)).toBeNull();
  });

  it("finds a property that JSON really named constructor", () => {
    const compiled = compileTemplates("{{input.constructor}}");
    expect(evaluate(compiled, { ...scope, input: { constructor: 1 } }).value).toBe(1);
  });
});

describe("a bad template is refused with its reason", () => {
  it.each([
    ["{{}}", "starts with one of"],
    ["{{foo.bar}}", 'unknown root "foo"'],
    ["{{input", "not closed"],
    ["{{input.a + 1}}", "not an expression"],
    ["{{input.a()}}", "not an expression"],
    ["{{input..a}}", "not an expression"],
    ["{{input[a]}}", "not an expression"],
    ["{{input[-1]}}", "not an expression"],
    ["{{input[01]}}", "not an expression"],
    ['{{input["a]}}', "not an expression"],
    ['{{input["\\x41"]}}', "not an expression"],
    ["{{input.a}", "not closed"],
    ["{{ {{input.a}} }}", "starts with one of"],
    ["{{steps}}", "name a step"],
    ["{{secrets}}", "a secret is one text"],
    ["{{secrets.A.b}}", "a secret is one text"],
    ["{{this.constructor}}", 'unknown root "this"'],
  ])("%s", (template, reason) => {
    const error = errorOf(() => compileTemplates(["fine", template]));
    expect(error).toBeInstanceOf(TemplateError);
    expect(error).toMatchObject({ code: "TEMPLATE_SYNTAX" });
    const [problem] = scanTemplates({ a: ["fine", template] }).problems;
    expect(problem?.path).toEqual(["a", "1"]);
    expect(problem?.message).toContain(reason);
  });

  it("lists every bad template of a string", () => {
    expect(scanTemplates("{{a}} {{input.ok}} {{b}}").problems).toHaveLength(2);
  });

  it("answers any string with a value or a TemplateError", () => {
    const pieces = fc.constantFrom(
      "{{",
      "}}",
      "{",
      "\\",
      "input",
      "secrets",
      "steps",
      ".",
      "[",
      "]",
      '"',
      "'",
      "0",
      "a",
      " ",
      "\\u00",
      "é",
      "💥",
    );
    const texts = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const error = errorOf(() => resolve({ text }));
        expect(error === undefined || error instanceof TemplateError).toBe(true);
        if (!text.includes("{{")) expect(resolve(text)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it.each(["{{", '{{input["', "{{ ", "{{input.a}} ", "\\{{", "\\"])(
    "reads a megabyte of %j without going back over it",
    (piece) => {
      const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
      expect(scanTemplates(text).problems.length).toBeLessThanOrEqual(10);
    },
  );
});

describe("secrets", () => {
  it("are masked in the twin, and nothing else is", () => {
    const compiled = compileTemplates({
      header: "Bearer {{secrets.API_KEY}}",
      whole: "{{secrets.API_KEY}}",
      name: "{{input.name}}",
      fixed: [1],
    });
    const { value, masked } = evaluate(compiled, scope);
    expect(value).toEqual({ header: "Bearer s3cr3t", whole: "s3cr3t", name: "Ada", fixed: [1] });
    expect(masked).toEqual({ header: "Bearer ••••", whole: "••••", name: "Ada", fixed: [1] });
  });

  it("cost no copy where there are none", () => {
    const { value, masked } = evaluate(compileTemplates({ a: "{{input.name}}" }), scope);
    expect(masked).toBe(value);
  });

  it("that are missing throw with their key", () => {
    const error = errorOf(() => resolve("x {{secrets.GONE}}"));
    expect(error).toMatchObject({ code: "MISSING_SECRET", secretKey: "GONE" });
  });
});

describe("the result is limited to 1 MiB", () => {
  const big = "x".repeat(300_000);
  const large: TemplateScope = {
    ...scope,
    input: { big, many: Array.from({ length: 9 }, () => big) },
  };

  it.each([
    ["text", "{{input.big}}".repeat(4)],
    ["array", Array.from({ length: 4 }, () => "{{input.big}}")],
    ["object", { a: "{{input.big}}", b: ["{{input.big}}{{input.big}}", { c: "{{input.big}}" }] }],
    ["whole value", "{{input.many}}"],
    ["million references", "{{input.big}}".repeat(80_000)],
  ])("%s", (_, value) => {
    expect(errorOf(() => evaluate(compileTemplates(value), large))).toMatchObject({
      code: "TEMPLATE_TOO_LARGE",
    });
  });

  it("and what fits is built", () => {
    expect(evaluate(compileTemplates("{{input.big}}{{input.big}}"), large).value).toHaveLength(
      600_000,
    );
  });

  it("counts bytes of JSON, not characters", () => {
    const escaped = { ...scope, input: "\u0001".repeat(200_000) };
    expect(errorOf(() => evaluate(compileTemplates("{{input}}"), escaped))).toMatchObject({
      code: "TEMPLATE_TOO_LARGE",
    });
  });

  it("a value too deep to be written as JSON is refused, not a stack overflow", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(
      errorOf(() => evaluate(compileTemplates("a {{input}}"), { ...scope, input: deep })),
    ).toMatchObject({ code: "TEMPLATE_TOO_LARGE" });
  });
});

describe("listReferences", () => {
  it("gives root, segments and place of every valid template", () => {
    expect(
      listReferences({
        a: ["{{steps.x.output[0]}} {{secrets.K}}"],
        b: "{{nope}}",
        "{{input.k}}": 1,
      }),
    ).toEqual([
      { root: "steps", segments: ["x", "output", "0"], path: ["a", "0"] },
      { root: "secrets", segments: ["K"], path: ["a", "0"] },
    ]);
  });
});
