import { z } from "zod";

/** The parts of a JSON Schema that an example needs. */
const schemaNode = z.looseObject({
  $ref: z.string().optional(),
  examples: z.array(z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  prefixItems: z.array(z.unknown()).optional(),
  minItems: z.number().optional(),
  minLength: z.number().optional(),
  minimum: z.number().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
});
type SchemaNode = z.output<typeof schemaNode>;

/** A schema behind its references, and their names; null for a schema that contains itself. */
interface Resolved {
  node: SchemaNode | null;
  path: readonly string[];
}

/**
 * The purpose of an example: answers show all of their members, requests only the required ones.
 */
export type ExampleUse = "answer" | "request";

const TEXTS_BY_FORMAT: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T08:00:00.000Z",
  date: "2026-01-31",
  uuid: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a",
  email: "ada@example.com",
  uri: "https://example.com/hooks",
};

/** Makes examples from schemas, and from the examples that their parts declare. */
export class SchemaExamples {
  readonly #components: Readonly<Record<string, unknown>>;

  /** @param components the schemas that references name */
  constructor(components: Readonly<Record<string, unknown>>) {
    this.#components = components;
  }

  /** An example of a schema's value; undefined where none is finite. */
  make(schema: unknown, use: ExampleUse): unknown {
    return this.#make(schema, use, "value", []);
  }

  #make(schema: unknown, use: ExampleUse, name: string, within: readonly string[]): unknown {
    const { node, path } = this.#resolve(schema, within);
    if (node === null) return undefined;
    const given = givenExample(node);
    if (given !== undefined) return given.value;
    if (node.allOf !== undefined) return this.#makeAll(node, use, name, path);
    const choices = node.anyOf ?? node.oneOf;
    if (choices !== undefined && node.properties !== undefined) {
      return this.#makeObject(this.#withFirst(node, choices, path), use, path);
    }
    if (choices !== undefined) return this.#makeFirst(choices, use, name, path);
    switch (typeOf(node)) {
      case "object":
        return this.#makeObject(node, use, path);
      case "array":
        return this.#makeArray(node, use, name, path);
      case "string":
        return textOf(node, name);
      case "integer":
      case "number":
        return Math.max(node.minimum ?? 1, 1);
      case "boolean":
        return true;
      case "null":
        return null;
      default:
        return {};
    }
  }

  /** Null for a schema within itself: the example omits the inner one. */
  #resolve(schema: unknown, within: readonly string[]): Resolved {
    const node = schemaNode.parse(schema === true ? {} : schema);
    if (node.$ref === undefined) return { node, path: within };
    const name = node.$ref.slice(node.$ref.lastIndexOf("/") + 1);
    if (within.includes(name)) return { node: null, path: within };
    return this.#resolve({ ...schemaNode.parse(this.#components[name]) }, [...within, name]);
  }

  #makeAll(node: SchemaNode, use: ExampleUse, name: string, path: readonly string[]): unknown {
    const parts = (node.allOf ?? []).map((part) => this.#make(part, use, name, path));
    return Object.assign({}, ...parts, this.#makeObject(node, use, path));
  }

  #makeFirst(
    choices: readonly unknown[],
    use: ExampleUse,
    name: string,
    path: readonly string[],
  ): unknown {
    const made = choices.map((choice) => this.#make(choice, use, name, path));
    return made.find((value) => value !== undefined && value !== null) ?? made[0];
  }

  /**
   * The object in the first of its forms: with the members of that form, without those of others.
   */
  #withFirst(node: SchemaNode, choices: readonly unknown[], path: readonly string[]): SchemaNode {
    const forms = choices.flatMap((choice) => {
      const { node: form } = this.#resolve(choice, path);
      return form === null ? [] : [form];
    });
    const [first, ...others] = forms;
    const required = [...(node.required ?? []), ...(first?.required ?? [])];
    const ofOthers = others.flatMap((form) => form.required ?? []);
    const properties = { ...first?.properties, ...node.properties };
    for (const name of ofOthers) if (!required.includes(name)) delete properties[name];
    return { ...node, properties, required };
  }

  #makeObject(node: SchemaNode, use: ExampleUse, path: readonly string[]): object {
    const { properties = {}, required = [] } = node;
    const members = Object.entries(properties).map(([name, schema]) => ({
      name,
      schema,
      isRequired: required.includes(name),
    }));
    const shown = use === "answer" ? members : this.#neededOf(members);
    const entries = shown.flatMap(({ name, schema, isRequired }) => {
      const value = this.#make(schema, use, name, path);
      // Optional members without an example are omitted.
      return value === undefined ? (isRequired ? [[name, null]] : []) : [[name, value]];
    });
    return Object.fromEntries(entries);
  }

  /** The required members, or else the first with an example of its own. */
  #neededOf<Member extends { schema: unknown; isRequired: boolean }>(members: readonly Member[]) {
    const required = members.filter(({ isRequired }) => isRequired);
    if (required.length > 0) return required;
    const first = members.find(({ schema }) => {
      const { node } = this.#resolve(schema, []);
      return node !== null && givenExample(node) !== undefined;
    });
    return first === undefined ? [] : [first];
  }

  #makeArray(node: SchemaNode, use: ExampleUse, name: string, path: readonly string[]): unknown[] {
    if (node.prefixItems !== undefined) {
      return node.prefixItems.map((item) => this.#make(item, use, name, path));
    }
    const item = node.items === undefined ? undefined : this.#make(node.items, use, name, path);
    return item === undefined
      ? []
      : Array.from({ length: Math.max(node.minItems ?? 1, 1) }, () => item);
  }
}

function givenExample(node: SchemaNode): { value: unknown } | undefined {
  if (node.examples !== undefined && node.examples.length > 0) return { value: node.examples[0] };
  if ("example" in node) return { value: node["example"] };
  if ("const" in node) return { value: node["const"] };
  if ("default" in node) return { value: node["default"] };
  const first = node.enum?.find((value) => value !== null);
  return first === undefined ? undefined : { value: first };
}

function typeOf({ type, properties, items }: SchemaNode): string | undefined {
  if (Array.isArray(type)) return type.find((each) => each !== "null");
  if (type !== undefined) return type;
  if (properties !== undefined) return "object";
  return items === undefined ? undefined : "array";
}

/** By the format, or from the member's name: `displayLabel` becomes "display label". */
function textOf({ format, minLength = 0 }: SchemaNode, name: string): string {
  const formatted = format === undefined ? undefined : TEXTS_BY_FORMAT[format];
  if (formatted !== undefined) return formatted;
  const words = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return words.padEnd(minLength, ".");
}
