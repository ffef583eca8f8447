import { fc } from "@workflow/testkit/property-test";
import type { ApiDocument, JsonSchema } from "../../support/api-document.ts";
import { alternativesOf } from "../../support/body-positions.ts";

type Resolve = ApiDocument["resolve"];

/** Schemas may contain themselves: steps have steps. */
const LEVELS_MAX = 6;
const ITEMS_MAX = 4;

/** Texts that mean something somewhere. */
const WORDS = [
  "a",
  "name",
  "first",
  "TOKEN",
  "http",
  "1",
  "cron",
  "https://127.0.0.1:1/",
  "{{input}}",
];

/** Values that a schema describes, and those of its examples. Patterns that nobody can fill give any text. */
export function arbitraryOf(given: JsonSchema, resolve: Resolve, level = 0): fc.Arbitrary<unknown> {
  if (level > LEVELS_MAX) return fc.constant(null);
  const alternatives = alternativesOf(resolve(given), resolve).map((schema) =>
    ofOne(schema, resolve, level),
  );
  const { examples = [] } = resolve(given);
  return fc.oneof(...alternatives, ...(examples.length > 0 ? [fc.constantFrom(...examples)] : []));
}

function ofOne(schema: JsonSchema, resolve: Resolve, level: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types = schema.type === undefined ? [undefined] : [schema.type].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, resolve, level)));
}

function ofType(
  type: string | undefined,
  schema: JsonSchema,
  resolve: Resolve,
  level: number,
): fc.Arbitrary<unknown> {
  switch (type) {
    case "string":
      return textOf(schema);
    case "integer":
      return fc.oneof(
        fc.integer({
          min: schema.minimum ?? -10,
          max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1),
        }),
        fc.constantFrom(schema.minimum ?? 0, schema.maximum ?? 100),
      );
    case "number":
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array": {
      const minLength = schema.minItems ?? 0;
      const maxLength = Math.max(minLength, Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX));
      return fc.array(arbitraryOf(schema.items ?? {}, resolve, level + 1), {
        minLength,
        maxLength,
      });
    }
    case "object":
      return objectOf(schema, resolve, level);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf(schema: JsonSchema, resolve: Resolve, level: number): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const known = Object.entries(properties).map(([name, member]) => [
    name,
    arbitraryOf(member, resolve, level + 1),
  ]);
  const isNeeded = (name: string): boolean => Object.hasOwn(properties, name);
  const ofKnown = fc.record<Record<string, unknown>>(Object.fromEntries(known), {
    requiredKeys: required.filter(isNeeded),
  });
  if (typeof additionalProperties !== "object") return ofKnown;
  const name = fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 12 }));
  const more = fc.dictionary(name, arbitraryOf(additionalProperties, resolve, level + 1), {
    maxKeys: 3,
  });
  return fc.tuple(more, ofKnown).map(([others, own]) => ({ ...others, ...own }));
}

function textOf({
  pattern,
  format,
  minLength = 0,
  maxLength = 40,
}: JsonSchema): fc.Arbitrary<string> {
  if (format === "date-time")
    return fc.date({ noInvalidDate: true, min: YEAR_0, max: YEAR_9999 }).map(toIso);
  if (format === "uuid") return fc.uuid();
  if (format === "email") return fc.emailAddress();
  if (format === "uri") return fc.constant("http://127.0.0.1:1/");
  if (pattern !== undefined) return matching(pattern);
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) };
  const texts = fc.oneof(
    fc.string(length),
    fc.string({ unit: "grapheme", ...length }),
    fc
      .string({ unit: "binary", ...length })
      .map((text) => text.toWellFormed().replaceAll("\0", " ")),
  );
  return minLength <= 1 ? fc.oneof(fc.constantFrom(...WORDS), texts) : texts;
}

const YEAR_0 = new Date("0000-01-01T00:00:00Z");
const YEAR_9999 = new Date("9999-12-31T23:59:59Z");

function toIso(date: Date): string {
  return date.toISOString();
}

/** Texts of a pattern; any text where fast-check does not know what it is made of. */
function matching(pattern: string): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern));
  } catch {
    return fc.string();
  }
}
