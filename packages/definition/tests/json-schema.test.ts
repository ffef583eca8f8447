import { describe, expect, it } from "@jest/globals";
import { compileJsonSchema } from "../src/index.ts";

function check(schema: unknown, value: unknown): string[] {
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok)
    throw new Error(`The schema was refused: ${JSON.stringify(compiled.violations)}`);
  return compiled.validate(value).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

function refusal(schema: unknown): string {
  const compiled = compileJsonSchema(schema);
  if (compiled.ok) throw new Error("The schema was accepted.");
  return compiled.violations.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n");
}

const TOO_EXPENSIVE = [": is too large or too deep to be checked against the schema"];

describe("violations", () => {
  it("name every wrong field at its place", () => {
    const schema = {
      type: "object",
      required: ["id", "lines"],
      additionalProperties: false,
      properties: {
        id: { type: "string", pattern: "^[a-z]+$" },
        email: { type: "string", format: "email" },
        kind: { enum: ["a", "b"] },
        lines: {
          type: "array",
          items: {
            type: "object",
            required: ["sku"],
            properties: { n: { type: ["integer", "null"] } },
          },
        },
        tags: { uniqueItems: true },
        "a/b~c": { const: 1 },
      },
    };
    const value = {
      id: "A1",
      email: "no",
      kind: "c",
      lines: [{ sku: 1 }, { n: "x" }],
      tags: [1, 1],
      "a/b~c": 2,
      more: 1,
    };
    expect(check(schema, value).toSorted()).toEqual([
      "a/b~c: must be 1",
      "email: must be a valid email",
      "id: must match the pattern ^[a-z]+$",
      'kind: must be one of "a", "b"',
      "lines.1.n: must be an integer or null",
      "lines.1.sku: is required",
      "more: is not allowed",
      "tags: must not hold equal items",
    ]);
    expect(check(schema, { id: "abc", lines: [], kind: "a" })).toEqual([]);
  });

  it("are at most 50, each once", () => {
    expect(
      check(
        { items: { type: "string" } },
        Array.from({ length: 500 }, () => 1),
      ),
    ).toHaveLength(50);
    expect(check({ allOf: [{ type: "string" }, { type: "string" }] }, 1)).toEqual([
      ": must be a string",
    ]);
  });

  it("see own properties only", () => {
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty"];
    expect(check({ required: names }, {})).toHaveLength(4);
    const own: unknown = JSON.parse(
      '{"constructor":1,"toString":1,"__proto__":1,"hasOwnProperty":1}',
    );
    expect(check({ required: names }, own)).toEqual([]);
    expect(check({ properties: { constructor: { type: "string" } } }, {})).toEqual([]);
  });
});

describe("drafts", () => {
  it("2020-12 is the default", () => {
    const tuple = { prefixItems: [{ type: "string" }], items: false };
    expect(check(tuple, ["a", 1])).toHaveLength(1);
    expect(
      check({ $schema: "https://json-schema.org/draft/2020-12/schema", ...tuple }, [1]),
    ).toHaveLength(1);
  });

  it("draft-07 is used where $schema says so", () => {
    const tuple = { items: [{ type: "string" }], additionalItems: false };
    expect(
      check({ $schema: "http://json-schema.org/draft-07/schema#", ...tuple }, ["a", 1]),
    ).toHaveLength(1);
  });

  it("draft-07 is used where nothing is said and items is a list", () => {
    expect(check({ items: [{ type: "string" }], additionalItems: false }, ["a", 1])).toHaveLength(
      1,
    );
    expect(refusal({ items: 5 })).toContain("items");
  });

  it("another one is refused", () => {
    expect(refusal({ $schema: "http://json-schema.org/draft-04/schema#" })).toContain(
      "$schema: must be",
    );
    expect(refusal({ $schema: 5 })).toContain("$schema: must be");
  });
});

describe("references", () => {
  it("stay inside the schema, and may be recursive", () => {
    const tree = {
      type: "object",
      required: ["v"],
      properties: { v: { type: "number" }, c: { items: { $ref: "#" } } },
    };
    expect(check(tree, { v: 1, c: [{ v: 2, c: [{}] }] })).toEqual(["c.0.c.0.v: is required"]);
    expect(
      check(
        { $defs: { a: { type: "string" } }, properties: { x: { $ref: "#/$defs/a" } } },
        { x: 1 },
      ),
    ).toEqual(["x: must be a string"]);
  });

  it.each([
    "https://example.com/schema.json",
    "https://json-schema.org/draft/2020-12/schema",
    "#/$defs/gone",
    "file:///etc/passwd",
  ])("%s is refused", ($ref) => {
    expect(refusal({ properties: { a: { $ref } } })).toContain("can't resolve reference");
  });

  it("an $id is known in its own schema only", () => {
    const $id = "https://example.com/shared";
    expect(
      check(
        { $id, $defs: { a: { $id: "a", type: "string" } }, properties: { x: { $ref: "a" } } },
        { x: 1 },
      ),
    ).toHaveLength(1);
    expect(check({ $id, type: "number" }, "x")).toEqual([": must be a number"]);
    expect(refusal({ $ref: $id })).toContain("can't resolve reference");
  });
});

describe("a bad schema is refused", () => {
  it.each<[unknown, string]>([
    [null, "must be a JSON Schema, which is an object, not null"],
    [true, "not a boolean"],
    [[], "not an array"],
    ["{}", "not a string"],
    [{ type: "strin" }, "type: must be one of"],
    [{ properties: { a: { minimum: "1" } } }, "properties.a.minimum: must be a number"],
    [{ pattern: "(" }, "is not a usable JSON Schema"],
    [{ pattern: "(?=a)" }, "no look-around"],
    [{ patternProperties: { "(a)\\1": {} } }, "no look-around"],
    [{ $async: true }, "$async: is not a JSON Schema keyword"],
    [{ properties: { a: { $async: true, type: "string" } } }, "is not a usable JSON Schema"],
    [{ description: "x".repeat(300_000) }, "at most 256 KiB"],
    [{ allOf: Array.from({ length: 1_000 }, () => ({})) }, "at most 1000 objects"],
    [
      {
        properties: {
          enum: { properties: { const: { anyOf: Array.from({ length: 1_000 }, () => ({})) } } },
        },
      },
      "at most 1000 objects",
    ],
  ])("%#", (schema, message) => {
    expect(refusal(schema)).toContain(message);
  });

  it("nests at most 32 deep", () => {
    const nest = (levels: number) => {
      let schema: unknown = {};
      for (let level = 0; level < levels; level += 1) schema = { not: schema };
      return schema;
    };
    expect(check(nest(31), 1)).toEqual([": must not match the schema in not"]);
    expect(refusal(nest(32))).toContain("at most 32 deep");
    expect(refusal(nest(50_000))).toContain("at most 32 deep");
  });

  it("unknown keywords and formats are annotations", () => {
    expect(check({ "x-order": 1, example: 2, format: "color" }, "red")).toEqual([]);
  });
});

describe("no schema and no value can take long", () => {
  it("patterns of one schema are kept apart", () => {
    const schema = {
      properties: { a: { pattern: "^a+$" }, b: { pattern: "^b+$" } },
      patternProperties: { "^x": { pattern: "^x+$" }, "^y": { type: "number" } },
    };
    expect(check(schema, { a: "aa", b: "bb", xa: "xx", y: 1 })).toEqual([]);
    const wrong = check(schema, { a: "bb", b: "aa", xa: "aa", ya: "aa" });
    expect(wrong.map((problem) => problem.split(":")[0])).toEqual(
      expect.arrayContaining(["a", "b", "xa", "ya"]),
    );
  });

  it("patterns are linear", () => {
    expect(check({ pattern: "^(a+)+$" }, "a".repeat(50_000) + "!")).toHaveLength(1);
    expect(check({ pattern: "(a|b)*a(a|b){900}[cd]" }, "ab".repeat(50_000))).toEqual(TOO_EXPENSIVE);
  });

  it("references that double at each level end", () => {
    const $defs: Record<string, unknown> = { d60: { type: "number" } };
    for (let level = 0; level < 60; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { allOf: [next, next] };
    }
    expect(check({ $defs, $ref: "#/$defs/d0" }, 1)).toEqual(TOO_EXPENSIVE);
  });

  it("references that double at each level of the value end", () => {
    let value: unknown = {};
    for (let level = 0; level < 60; level += 1) value = { a: value };
    const schema = { properties: { a: { anyOf: [{ allOf: [{ $ref: "#" }, { $ref: "#" }] }] } } };
    expect(check(schema, value)).toEqual(TOO_EXPENSIVE);
  });

  it("a reference to itself ends", () => {
    expect(check({ $ref: "#" }, 1)).toEqual(TOO_EXPENSIVE);
    expect(
      check({ $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" }, 1),
    ).toEqual(TOO_EXPENSIVE);
  });

  it("failing references in a long list end", () => {
    const schema = { $defs: { one: { const: 1 } }, contains: { $ref: "#/$defs/one" } };
    expect(
      check(
        schema,
        Array.from({ length: 400_000 }, () => 2),
      ),
    ).toEqual(TOO_EXPENSIVE);
  });

  it("uniqueItems takes a long list", () => {
    const items = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(check({ uniqueItems: true }, items)).toEqual([]);
    expect(
      check({ uniqueItems: true }, [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ]),
    ).toHaveLength(1);
    expect(check({ uniqueItems: true }, [1, "1", true, "true", null])).toEqual([]);
    expect(check({ uniqueItems: false }, [1, 1])).toEqual([]);
  });

  it("a very large invalid value still gives its first violation", () => {
    expect(
      check(
        { items: { type: "string" } },
        Array.from({ length: 400_000 }, () => 1),
      ),
    ).toEqual(["0: must be a string"]);
  });

  it("a value nested a hundred thousand deep ends", () => {
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) value = [value];
    expect(check({ items: { $ref: "#" } }, value)).toEqual(TOO_EXPENSIVE);
  });

  it("a budget that one validation used up is whole for the next", () => {
    const compiled = compileJsonSchema({ pattern: "(a|b)*a(a|b){100}[cd]", type: "string" });
    if (!compiled.ok) throw new Error("The schema was refused.");
    expect(compiled.validate("ab".repeat(50_000))).toHaveLength(1);
    expect(compiled.validate(`${"a".repeat(101)}c`)).toEqual([]);
  });
});

it("text of a schema that looks like generated code stays text", () => {
  const name = '"]){vErrors.push(err0);}return function x(data, {}={}){ vErrors.concat( `${1}`';
  const schema = {
    required: [name],
    properties: { [name]: { const: name } },
    additionalProperties: false,
  };
  expect(check(schema, {})).toEqual([`${name}: is required`]);
});
