import type { ApiDocument, JsonSchema } from "./api-document.ts";

/** The path from a body to a value in it; indexes are text. */
export type Place = readonly string[];

/** A body under construction, of the values that JSON.parse makes. */
type Json = Record<string, unknown> | unknown[];

/** Members below this depth belong to documents that the same code reads at every level. */
const LEVELS_MAX = 4;
/** A mark for the value, until the body is written as text. */
const MARK = "the-hostile-value-stands-here";

/** Every place that the schema of a body knows or that the given body has. */
export function placesOf(
  { resolve }: Pick<ApiDocument, "resolve">,
  schema: JsonSchema,
  body: unknown,
): Place[] {
  const found = new Map<string, Place>();
  const add = (place: Place): void => void found.set(JSON.stringify(place), place);
  // A schema that contains itself is entered once.
  const walkSchema = (given: JsonSchema, place: Place, entered: readonly string[] = []): void => {
    if (place.length > 0) add(place);
    const within = given.$ref === undefined ? entered : [...entered, given.$ref];
    if (place.length === LEVELS_MAX || new Set(within).size < within.length) return;
    for (const each of alternativesOf(resolve(given), resolve)) {
      for (const [name, member] of Object.entries(each.properties ?? {})) {
        walkSchema(member, [...place, name], within);
      }
      if (each.items !== undefined) walkSchema(each.items, [...place, "0"], within);
      // Members of a document without a schema are in the given body, or in none.
      const { additionalProperties: more } = each;
      if (typeof more === "object" && Object.keys(more).length > 0) {
        walkSchema(more, [...place, "__proto__"], within);
        walkSchema(more, [...place, "some-name"], within);
      }
    }
  };
  const walkBody = (value: unknown, place: Place): void => {
    if (place.length > 0) add(place);
    if (place.length === LEVELS_MAX || typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) walkBody(member, [...place, name]);
  };
  walkSchema(schema, []);
  walkBody(body, []);
  return [...found.values()];
}

/** The text of a body with a value of the described kind at a place. */
export function sampleIn(
  document: Pick<ApiDocument, "resolve">,
  schema: JsonSchema,
  body: unknown,
  place: Place,
): string {
  let known = document.resolve(schema);
  for (const name of place) known = memberOf(known, name, document.resolve);
  const json = JSON.stringify(sampleOf(known, document.resolve));
  return placeIn(document, schema, body, { place, json });
}

/** The text of a body without the member at a place. */
export function withoutPlace(body: string, place: Place): string {
  const copy: unknown = JSON.parse(body);
  let container: unknown = copy;
  for (const name of place.slice(0, -1)) {
    container = isJson(container) ? readMember(container, name) : undefined;
  }
  const last = place.at(-1);
  if (last !== undefined && isJson(container)) Reflect.deleteProperty(container, last);
  return JSON.stringify(copy);
}

/** The text of a body with a JSON text at a place, and with the parents that the place needs. */
export function placeIn(
  { resolve }: Pick<ApiDocument, "resolve">,
  schema: JsonSchema,
  body: unknown,
  { place, json }: { place: Place; json: string },
): string {
  const copy: unknown = structuredClone(body ?? {});
  let [value, known] = [copy, resolve(schema)];
  for (const [index, name] of place.entries()) {
    if (!isJson(value)) throw new Error(`No body has room for ${place.join(".")}.`);
    const container = known;
    known = memberOf(known, name, resolve);
    const isLast = index === place.length - 1;
    let next = isLast ? MARK : readMember(value, name);
    if (!isLast && !isJson(next)) {
      next = sampleOf(known, resolve);
      // Entries with an id are kept under their id.
      const isEntry = typeof container.additionalProperties === "object";
      if (isEntry && isJson(next) && Object.hasOwn(next, "id")) setMember(next, "id", name);
    }
    setMember(value, name, next);
    value = next;
  }
  return JSON.stringify(copy).replace(JSON.stringify(MARK), () => json);
}

/** The smallest value that a schema describes, as far as a test can guess. */
export function sampleOf(given: JsonSchema, resolve: ApiDocument["resolve"]): unknown {
  const [schema = {}] = wholeAlternativesOf(resolve(given), resolve);
  if (schema.const !== undefined) return schema.const;
  // Many schemas have no type.
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  const [type] = [schema.type ?? "object"].flat();
  if (type === "array") {
    const length = schema.minItems ?? 0;
    return Array.from({ length }, () => sampleOf(schema.items ?? {}, resolve));
  }
  if (type === "object") {
    // The example does not serve: the object that it names is not there.
    const members = (schema.required ?? []).map((name) => [
      name,
      sampleOf(schema.properties?.[name] ?? {}, resolve),
    ]);
    return Object.fromEntries(members);
  }
  const [sample] = schema.examples ?? [];
  if (sample !== undefined) return structuredClone(sample);
  if (type === "string") return sampleTextOf(schema);
  if (type === "number" || type === "integer") return schema.minimum ?? 1;
  return true;
}

const SAMPLE_TEXTS = ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a99", "https://nobody.example/"];

function sampleTextOf({ minLength = 1, format, pattern = "" }: JsonSchema): string {
  const texts = format === "uuid" ? SAMPLE_TEXTS : ["x".repeat(minLength), ...SAMPLE_TEXTS];
  return texts.find((text) => new RegExp(pattern).test(text)) ?? "x";
}

/** The schemas of which a value has to fit one, structured ones first. */
export function alternativesOf(
  schema: JsonSchema,
  resolve: ApiDocument["resolve"],
): readonly JsonSchema[] {
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (parts === undefined) return [schema];
  const all = parts.flatMap((part) => alternativesOf(resolve(part), resolve));
  return [...all.filter(isStructured), ...all.filter((each) => !isStructured(each))];
}

/** As `alternativesOf`; each has the members that the schema describes beside its alternatives, too. */
export function wholeAlternativesOf(
  schema: JsonSchema,
  resolve: ApiDocument["resolve"],
): readonly JsonSchema[] {
  const { anyOf, oneOf, allOf } = schema;
  const parts = anyOf ?? oneOf ?? allOf;
  if (parts === undefined) return [schema];
  const nested = parts.flatMap((part) => wholeAlternativesOf(resolve(part), resolve));
  const all = nested.map((part) => withMembersOf(schema, part));
  return [...all.filter(isStructured), ...all.filter((each) => !isStructured(each))];
}

function withMembersOf(whole: JsonSchema, part: JsonSchema): JsonSchema {
  const { properties, required = [], additionalProperties } = whole;
  if (properties === undefined) return part;
  return {
    ...(additionalProperties !== undefined && { additionalProperties }),
    ...part,
    type: "object",
    properties: { ...part.properties, ...properties },
    required: [...required, ...(part.required ?? [])],
  };
}

function memberOf(schema: JsonSchema, name: string, resolve: ApiDocument["resolve"]): JsonSchema {
  for (const each of alternativesOf(schema, resolve)) {
    const { properties = {}, items, additionalProperties } = each;
    const isNamed = Object.hasOwn(properties, name);
    const found = isNamed ? properties[name] : (items ?? additionalProperties);
    if (typeof found === "object") return resolve(found);
  }
  return {};
}

function isStructured({ properties, items, additionalProperties }: JsonSchema): boolean {
  return (
    properties !== undefined || items !== undefined || typeof additionalProperties === "object"
  );
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function readMember(container: Json, name: string): unknown {
  return Object.getOwnPropertyDescriptor(container, name)?.value;
}

/** As in JSON.parse, a member of any name becomes an own one. */
function setMember(container: Json, name: string, value: unknown): void {
  const property = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(container, name, property);
}
