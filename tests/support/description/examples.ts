import { z } from "zod";

/** An example in the document, and the schema beside it. */
interface FoundExample {
  /** The place of the example, for people. */
  at: string;
  /** The JSON pointer of its schema, escaped for a URI. */
  schema: string;
  /** The example; undefined where a schema has none. */
  value: unknown;
}

const media = z.looseObject({
  schema: z.unknown(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.looseObject({ value: z.unknown() })).optional(),
});
const node = z.record(z.string(), z.unknown());

/** Finds every example of a body, a parameter or a header that has a schema beside it. */
export function collectExamples(document: object): FoundExample[] {
  return walk(document, []);
}

function walk(value: unknown, path: readonly string[]): FoundExample[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => walk(item, [...path, String(index)]));
  const members = node.safeParse(value).data;
  if (members === undefined) return [];
  if ("schema" in members && isHolder(path)) return examplesOf(media.parse(members), path);
  return Object.entries(members).flatMap(([name, member]) => walk(member, [...path, name]));
}

/**
 * A schema belongs to a media type, a parameter or a header; elsewhere `schema` may be a member's name.
 */
function isHolder(path: readonly string[]): boolean {
  const [holder = "", name = ""] = path.slice(-2);
  if (path.includes("schemas")) return false;
  return ["content", "headers", "parameters"].includes(holder) && name !== "schema";
}

function examplesOf(
  { example, examples }: z.output<typeof media>,
  path: readonly string[],
): FoundExample[] {
  const schema = `/${[...path, "schema"].map(escape).join("/")}`;
  const at = path.join(" ");
  const isBody = path.at(-2) === "content";
  if (examples !== undefined) {
    return Object.entries(examples).map(([name, { value }]) => ({
      at: `${at} ${name}`,
      schema,
      value,
    }));
  }
  return example === undefined && !isBody ? [] : [{ at, schema, value: example }];
}

function escape(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
