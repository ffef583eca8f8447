import { describe, expect, it } from "@jest/globals";
import { compileJsonSchema } from "@workflow/definition";
import { CORE_AGENTS } from "../src/agents/core/core-agents.ts";
import { refusals, wrongWith } from "./support/core-agent-checks.ts";
import type { Input } from "./support/core-agent-checks.ts";
import { CORE_AGENT_EXAMPLES } from "./support/core-agent-examples.ts";
import { composeCore, coreAgent } from "./support/prompt-blocks.ts";

describe("answers of core agents", () => {
  it.each(CORE_AGENTS.map((agent) => [agent.id] as const))(
    "%s has a schema for callers to see that any answer fits",
    (id) => {
      const shown = compileJsonSchema(JSON.parse(coreAgent(id).outputSchemaJson ?? "null"));
      expect(shown.ok).toBe(true);
      const { outputSchema } = composeCore(id, CORE_AGENT_EXAMPLES[id] ?? {});
      expect(outputSchema?.["required"]).toEqual(
        CORE_AGENTS.find((agent) => agent.id === id)?.outputSchema["required"],
      );
    },
  );

  const sure = { overallConfidence: 1, missingFields: [], notes: null };

  it("of an extraction have exactly the fields that were asked for, null where there is none", () => {
    const input = {
      document: "d",
      fields: ["any", { name: "total", type: "number" }, { name: "due", type: "date" }],
    };
    const data = { any: ["x"], total: 5, due: null };
    const confidence = { any: 1, total: 0.5, due: 0 };
    const wrong = (changes: Input): string[] =>
      wrongWith("agent_extraction", input, { data, confidence, ...sure, ...changes });
    expect(wrong({})).toEqual([]);
    expect(wrong({ data: { ...data, total: "5" } })).toEqual([
      "data.total must be a number or null",
    ]);
    expect(wrong({ data: { ...data, due: "5.1." } })).toEqual(["data.due must be a valid date"]);
    expect(wrong({ data: { ...data, more: 1 } })).toEqual(["data.more is not allowed"]);
    expect(wrong({ data: { any: 1, total: 1 } })).toEqual(["data.due is required"]);
    expect(wrong({ confidence: { any: 1, total: 1 } })).toEqual(["confidence.due is required"]);
    expect(wrong({ confidence: { ...confidence, due: 1.5 } })).toEqual([
      "confidence.due must be at most 1",
    ]);
    expect(wrong({ more: 1 })).toEqual(["more is not allowed"]);
  });

  it("of an extraction have data that fits the caller's schema, with its references", () => {
    const input = {
      document: "d",
      schema: {
        type: "object",
        properties: {
          description: { $ref: "#/$defs/text" },
          first: { $ref: "#/properties/description" },
          child: { $ref: "#" },
          "a/b": { enum: [{ $ref: "#", title: "kept" }] },
        },
        required: ["description"],
        $defs: { text: { type: "string", title: "left out", default: "left out" } },
      },
    };
    const confidence = { description: 1, first: 1, child: 1, "a/b": 1 };
    const wrong = (data: unknown): string[] =>
      wrongWith("agent_extraction", input, { data, confidence, ...sure });
    expect(wrong({ description: "d", child: { description: "e", first: "f" } })).toEqual([]);
    expect(wrong({ description: "d", "a/b": { $ref: "#", title: "kept" } })).toEqual([]);
    expect(wrong({ description: 5 })).toEqual(["data.description must be a string"]);
    expect(wrong({ description: "d", first: 5 })).toEqual(["data.first must be a string"]);
    expect(wrong({ description: "d", child: {} })).toEqual(["data.child.description is required"]);
    const { outputSchema } = composeCore("agent_extraction", input);
    expect(JSON.stringify(outputSchema)).not.toContain("left out");
  });

  it("of a transformation are asked for without any words of the caller's schema that decide nothing", () => {
    const words = {
      title: "SAY",
      description: "SAY",
      $comment: "SAY",
      default: "SAY",
      examples: ["SAY"],
      contentMediaType: "SAY",
      contentEncoding: "SAY",
      contentSchema: { const: "SAY" },
      deprecated: true,
      format: "SAY",
      id: "SAY",
      "x-note": "SAY",
      "x-notes": { "x-note": { type: "string", enum: ["SAY"] } },
    };
    const member = { ...words, id: undefined, type: "string" };
    const pet = { type: "object", properties: { a: member, "x-note": { type: "number" } } };
    const given = {
      ...words,
      id: undefined,
      anyOf: [{ $ref: "#/x-schemas/a~1b%20c" }, member],
      "x-schemas": {
        ...words,
        "a/b c": { ...words, id: undefined, ...pet },
        other: { enum: ["SAY"] },
      },
    };
    const targetSchema: unknown = JSON.parse(JSON.stringify(given));
    const { outputSchema } = composeCore("agent_transform", { data: 1, targetSchema });
    expect(JSON.stringify(outputSchema)).not.toMatch(/SAY|x-notes|deprecated/);
    const wrong = (data: unknown): string[] =>
      wrongWith("agent_transform", { data: 1, targetSchema }, { data, unmapped: [], warnings: [] });
    expect(wrong({ a: "a", "x-note": 1 })).toEqual([]);
    expect(wrong({ a: "a", "x-note": "1" })).not.toEqual([]);
  });

  it.each<[what: string, targetSchema: Input, good: unknown, bad: unknown]>([
    [
      "draft-07 with a list of items",
      { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] },
      ["a"],
      [1],
    ],
    [
      "a list of items without $schema",
      {
        type: "array",
        items: [{ $ref: "#/definitions/a" }],
        definitions: { a: { type: "string" } },
      },
      ["a"],
      [1],
    ],
    [
      "an $id",
      {
        $id: "https://example.com/a.json",
        properties: { a: { $ref: "#/$defs/n" }, b: { $ref: "a.json#/$defs/n" } },
        $defs: { n: { type: "number" } },
      },
      { a: 1, b: 1 },
      { a: 1, b: "1" },
    ],
    [
      "an $id within",
      {
        properties: {
          a: {
            $id: "https://example.com/a.json",
            properties: { x: { $ref: "#/$defs/n" } },
            $defs: { n: { type: "number" } },
          },
          b: { $ref: "#/properties/a" },
        },
      },
      { a: { x: 1 }, b: { x: 2 } },
      { a: { x: 1 }, b: { x: "2" } },
    ],
    [
      "an $anchor",
      { items: { $ref: "#item" }, $defs: { i: { $anchor: "item", type: "number" } } },
      [1],
      ["1"],
    ],
    [
      "a $dynamicRef",
      { $dynamicAnchor: "node", type: "object", properties: { next: { $dynamicRef: "#node" } } },
      { next: {} },
      { next: 1 },
    ],
    [
      "members that are called like keywords",
      {
        properties: {
          properties: {
            type: "object",
            properties: { $ref: { type: "string" }, title: { type: "number" } },
          },
        },
      },
      { properties: { $ref: "#", title: 1 } },
      { properties: { title: "1" } },
    ],
    [
      "a tree",
      {
        type: "object",
        properties: { kids: { type: "array", items: { $ref: "#" } } },
        additionalProperties: false,
      },
      { kids: [{ kids: [] }] },
      { kids: [{ kid: [] }] },
    ],
    [
      "dependencies of draft-07",
      {
        $schema: "http://json-schema.org/draft-07/schema",
        dependencies: { a: ["b"], c: { $ref: "#/definitions/d" } },
        definitions: { d: { required: ["e"] } },
      },
      { a: 1, b: 1, c: 1, e: 1 },
      { c: 1 },
    ],
  ])("of a transformation fit a target schema with %s", (_, targetSchema, good, bad) => {
    const wrong = (data: unknown): string[] =>
      wrongWith("agent_transform", { data: 1, targetSchema }, { data, unmapped: [], warnings: [] });
    expect(wrong(good)).toEqual([]);
    expect(wrong(bad)).not.toEqual([]);
    expect(wrong(bad).every((text) => text.startsWith("data"))).toBe(true);
  });

  it("are refused where the caller's schema can't be used, with the place in it", () => {
    const schema = (given: Input): string[] =>
      refusals("agent_extraction", { document: "d", schema: given });
    expect(schema({ type: "objekt" })[0]).toMatch(/^input\.schema\.type must be one of /);
    expect(schema({ properties: { a: { $ref: "#/$defs/b" } } })[0]).toMatch(
      /^input\.schema\.properties\.a\.\$ref .*can't resolve/,
    );
    expect(schema({ $defs: { a: { type: 1 } } })[0]).toMatch(/^input\.schema\.\$defs\.a\.type /);
    expect(schema({ $schema: "https://example.com/" })[0]).toMatch(
      /^input\.schema\.\$schema must be /,
    );
    expect(schema({ pattern: "(" })[0]).toMatch(/^input\.schema\.pattern /);
    expect(schema({ enum: ["x".repeat(65_536)] })).toEqual([
      "input.schema must have at most 65536 characters",
    ]);
    const allOf = Array.from({ length: 401 }, () => ({}));
    expect(schema({ allOf })[0]).toMatch(/^input\.schema must have at most 400 objects/);
    const deep = Array.from({ length: 40 }).reduce<Input>((not) => ({ not }), {});
    expect(schema(deep)).toEqual(["input.schema a JSON Schema nests at most 32 deep"]);
    expect(refusals("agent_transform", { data: 1, targetSchema: { type: 5 } })[0]).toMatch(
      /^input\.targetSchema\.type /,
    );
  });

  it("of a decision are one of the options that were given", () => {
    const answer = {
      factors: [],
      missingInformation: [],
      reasoning: "r",
      decision: "c",
      confidence: 1,
      alternatives: [],
      needsReview: false,
    };
    const options = ["a", { id: "b", name: "B" }, { value: "c", name: "C" }, { name: "d" }];
    const wrong = (input: Input, decision: string): string[] =>
      wrongWith("agent_decision", { data: 1, context: "c", ...input }, { ...answer, decision });
    for (const decision of ["a", "b", "c", "d"]) expect(wrong({ options }, decision)).toEqual([]);
    for (const decision of ["B", "C", "", "e"]) {
      expect(wrong({ options }, decision)).toEqual(['decision must be one of "a", "b", "c", "d"']);
      expect(wrong({}, decision)).toEqual([]);
    }
  });

  it("of content are in the format that was asked for", () => {
    const answer = { subject: null, body: "b", format: "html", warnings: [] };
    expect(wrongWith("agent_content", { context: "c", format: "html" }, answer)).toEqual([]);
    expect(wrongWith("agent_content", { context: "c" }, answer)).toEqual([]);
    expect(wrongWith("agent_content", { context: "c", format: "text" }, answer)).toEqual([
      'format must be one of "text"',
    ]);
  });
});
