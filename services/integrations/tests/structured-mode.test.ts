import { expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { ANTHROPIC, CHAT, RESPONSES, startRoute } from "./support/models-harness.ts";

type Schema = Readonly<Record<string, unknown>>;

const closed = (properties: Record<string, unknown>, more: Schema = {}): Schema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

const nested = (levels: number): Schema =>
  levels === 0 ? { type: "string" } : closed({ a: nested(levels - 1) });

it.each<[string, Schema]>([
  ["plain values", closed({ a: { type: "string" }, b: { type: ["number", "null"] } })],
  [
    "lists",
    closed({ a: { type: "array", items: closed({ b: { type: "boolean" } }), maxItems: 3 } }),
  ],
  [
    "choices",
    closed({
      a: { type: "string", enum: ["x", "y"] },
      b: { anyOf: [{ type: "null" }, closed({})] },
    }),
  ],
  ["bounds", closed({ a: { type: "number", minimum: 0, maximum: 1 } })],
  ["references", closed({ a: { $ref: "#/$defs/b" } }, { $defs: { b: { type: "string" } } })],
  ["formats and patterns", closed({ a: { type: "string", format: "date", pattern: "^2" } })],
  ["ten levels", nested(10)],
])("OpenAI decodes by a schema of %s", async (_what, outputSchema) => {
  for (const route of [RESPONSES, CHAT]) {
    await using harness = await startRoute(route);
    expect(await harness.ask({ outputSchema })).toMatchObject({ warnings: [] });
    expect(JSON.stringify(harness.double.asked[0]?.body)).toContain('"strict":true');
    expect(harness.double.asked[0]?.schema).toEqual(outputSchema);
  }
});

it.each<[string, Schema]>([
  ["an optional property", closed({ a: { type: "string" } }, { required: [] })],
  ["an open object", closed({ a: { type: "string" } }, { additionalProperties: true })],
  ["a map", closed({}, { additionalProperties: { type: "string" } })],
  ["a keyword that it does not know", closed({ a: { type: "string", minLength: 1 } })],
  ["parts that all hold", closed({ a: { allOf: [{ type: "string" }] } })],
  ["a format that it does not know", closed({ a: { type: "string", format: "uri" } })],
  ["a pattern that looks ahead", closed({ a: { type: "string", pattern: "^(?=x)" } })],
  ["a value of any type", closed({ a: {} })],
  ["a list of anything", closed({ a: { type: "array" } })],
  ["eleven levels", nested(11)],
  ["a choice at its root", closed({}, { anyOf: [closed({}), closed({})] })],
])("OpenAI is asked loosely where a schema has %s", async (_what, outputSchema) => {
  for (const route of [RESPONSES, CHAT]) {
    await using harness = await startRoute(route);
    await harness.ask({ outputSchema });
    expect(harness.double.requests).toHaveLength(1);
    expect(JSON.stringify(harness.double.asked[0]?.body)).toContain('"strict":false');
  }
});

it.each<[string, Schema]>([
  ["a list", { type: "array", items: { type: "string" } }],
  ["a choice", { anyOf: [closed({}), { type: "null" }] }],
  ["anything", {}],
  ["an object of named names", closed({}, { propertyNames: { type: "integer" } })],
])("a schema of %s stands in the prompt alone", async (_what, outputSchema) => {
  for (const route of [RESPONSES, CHAT]) {
    await using harness = await startRoute(route);
    expect(await harness.ask({ outputSchema })).toMatchObject({ warnings: [] });
    expect(harness.double.asked.map(({ schema }) => schema)).toEqual([null]);
  }
});

it.each<[string, Schema]>([
  ["bounds, which it is told in words", closed({ a: { type: "number", minimum: 0 } })],
  ["optional properties", closed({ a: { type: "string" } }, { required: [] })],
  ["references", closed({ a: { $ref: "#/$defs/b" } }, { $defs: { b: { type: "string" } } })],
])("Anthropic decodes by a schema of %s", async (_what, outputSchema) => {
  await using harness = await startRoute(ANTHROPIC);
  await harness.ask({ outputSchema });
  expect(harness.double.asked).toHaveLength(1);
  expect(harness.double.asked[0]?.schema).toMatchObject({ type: "object" });
});

it.each<[string, Schema]>([
  ["a map", closed({ a: { type: "object", additionalProperties: { type: "string" } } })],
  ["an object of anything", closed({ a: { type: "object" } })],
  ["itself", closed({ a: { anyOf: [{ $ref: "#" }, { type: "null" }] } })],
  [
    "eleven optional properties",
    closed(Object.fromEntries("abcdefghijk".split("").map((name) => [name, { type: "null" }])), {
      required: [],
    }),
  ],
])("Anthropic does not get a schema of %s, and no tool for it", async (_what, outputSchema) => {
  await using harness = await startRoute(ANTHROPIC);
  expect(await harness.ask({ outputSchema })).toMatchObject({ warnings: [] });
  expect(harness.double.asked.map(({ schema }) => schema)).toEqual([null]);
  expect(harness.double.asked[0]?.body).not.toHaveProperty("tools");
});

const { schema: anySchema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ type: fc.constantFrom("string", "number", "null") }),
    fc.record(
      {
        type: fc.constant("string"),
        format: fc.constantFrom("date", "uri", "uuid"),
        minLength: fc.nat(3),
        pattern: fc.constantFrom("^a", "(?=a)"),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record({ type: fc.constant("array"), items: tie("schema") }, { requiredKeys: ["type"] }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      enum: fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 3 }),
    }),
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema")),
        required: fc.subarray(["a", "b"]),
        additionalProperties: fc.oneof(fc.boolean(), fc.constant(false)),
      },
      { requiredKeys: ["type"] },
    ),
  ),
}));

it("no schema is handed over that a provider refuses", async () => {
  await using responses = await startRoute(RESPONSES);
  await using chat = await startRoute(CHAT);
  await using anthropic = await startRoute(ANTHROPIC);
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom("a", "b"), anySchema), async (properties) => {
      for (const harness of [responses, chat, anthropic]) {
        await harness.ask({ outputSchema: closed(properties) });
        expect(harness.double.requests).toHaveLength(harness.double.asked.length);
      }
    }),
    { numRuns: 150 },
  );
});
