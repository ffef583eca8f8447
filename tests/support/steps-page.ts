import { describeActions, describeStep, describeStepTypes } from "@workflow/definition";
import { format } from "prettier";
import { z } from "zod";
import { ACTION_EXAMPLES, STEP_EXAMPLES } from "./step-examples.ts";

/** The parts of a JSON Schema on the page. */
interface Schema {
  type?: string | string[] | undefined;
  description?: string | undefined;
  default?: unknown;
  enum?: unknown[] | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  maxItems?: number | undefined;
  anyOf?: Schema[] | undefined;
  items?: Schema | undefined;
  properties?: Record<string, Schema> | undefined;
  required?: string[] | undefined;
}

const schemaShape: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    description: z.string().optional(),
    default: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    maxItems: z.number().optional(),
    anyOf: z.array(schemaShape).optional(),
    items: schemaShape.optional(),
    properties: z.record(z.string(), schemaShape).optional(),
    required: z.array(z.string()).optional(),
  }),
);

const INTRODUCTION = `
# Steps

What a step may say. The tables come from the schemas that requests are checked against; a test keeps
this page up to date.

A workflow has a list of steps that run in order. Each has these fields:
`;

const LANGUAGES = `
Other fields are kept as they are.

## Templates

A string in a config may hold templates: \`{{input.a.b[0]}}\`, the run's input;
\`{{steps.<id>.output.x}}\`, what an earlier step returned; \`{{secrets.KEY}}\`; \`{{trigger.x}}\`;
\`{{run.id}}\`, \`{{run.workflowId}}\`, \`{{run.version}}\` and \`{{run.startedAt}}\`; and, inside a loop or a
parallel step with \`forEach\`, \`{{loop.item}}\` and \`{{loop.index}}\`. A string that is nothing but one
template keeps the value's type, so where anything but a string is wanted nothing may stand beside it;
inside a longer text an object becomes JSON. A path that leads nowhere gives null, or nothing inside a
longer text. \`\\{{\` stands for the braces themselves.

A template may name steps that have run before: those above it, those inside an earlier condition,
loop or parallel step, and, in a loop's \`while\`, the loop's own. A step that comes later, that holds
this one, or that is in another branch beside it is refused when the workflow is saved. The same goes
for JSONata that reads \`steps.<id>\`; secrets are not seen by JSONata.
Where a secret may go, and that one can be bound to hosts, is in [secrets.md](secrets.md).

## Conditions

\`{left, operator, right?, ignoreCase?}\`, or \`{all: […]}\`, \`{any: […]}\`, \`{not: …}\` around others. The
operators are \`equals\`, \`not_equals\`, \`contains\`, \`not_contains\`, \`starts_with\`, \`ends_with\`,
\`greater_than\`, \`greater_than_or_equal\`, \`less_than\`, \`less_than_or_equal\`, \`in\`, \`matches\` (an RE2
pattern), \`exists\`, \`is_empty\` and \`is_not_empty\`. Either side may be a template. A comparison of
values that can't be compared is false.

# Types
`;

/** The text of docs/steps.md. */
export async function renderStepsPage(): Promise<string> {
  const types = describeStepTypes().map(({ type, description, configSchema }) =>
    [
      `## ${type}`,
      description,
      table("Config", configSchema),
      fence(STEP_EXAMPLES[type], `an example of the step type ${type}`),
    ].join("\n\n"),
  );
  const actions = describeActions().map(({ id, description, inputSchema, outputs }) =>
    [
      `## ${id}`,
      outputs.length === 0
        ? description
        : `${description} The output has ${outputs.map((name) => `\`${name}\``).join(", ")}.`,
      table("Input", inputSchema),
      fence(ACTION_EXAMPLES[id], `an example of the action ${id}`),
    ].join("\n\n"),
  );
  const step = describeStep();
  const page = [
    INTRODUCTION,
    table("Field", step),
    "A retry policy has these; a longer `Retry-After` of the receiver counts instead of a wait:",
    table("Field", schemaShape.parse(step).properties?.["retry"]),
    LANGUAGES,
    ...types,
    "# Actions",
    "What a step of type action may call. Every input may be a template.",
    ...actions,
  ];
  return format(page.join("\n\n"), { parser: "markdown", printWidth: 100 });
}

function table(heading: string, jsonSchema: unknown): string {
  const { properties = {}, required = [] } = schemaShape.parse(jsonSchema);
  const rows = Object.entries(properties).map(([name, schema]) => {
    const note = required.includes(name) ? "required" : defaultOf(schema);
    return `| \`${name}\` | ${typeOf(schema)} | ${note} | ${cell(schema.description ?? "")} |`;
  });
  return [`| ${heading} | Type | Default | |`, "|---|---|---|---|", ...rows].join("\n");
}

function defaultOf(schema: Schema): string {
  return schema.default === undefined ? "" : `\`${JSON.stringify(schema.default)}\``;
}

function typeOf(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.description === "A template") return "template";
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  }
  const { type } = schema;
  if (Array.isArray(type)) return type.join(" or ");
  if (type === "array") return arrayOf(schema);
  if (type === "object" && schema.properties !== undefined) return objectOf(schema.properties);
  if (type === "integer" || type === "number") return `${type}${rangeOf(schema)}`;
  return type ?? "any value";
}

function arrayOf({ items, maxItems }: Schema): string {
  const limit = maxItems === undefined ? "" : ` (at most ${maxItems})`;
  const inner = items === undefined ? "any value" : typeOf(items);
  return inner === "any value" ? `array${limit}` : `array${limit} of ${inner}`;
}

function objectOf(properties: Record<string, Schema>): string {
  return `object with ${Object.keys(properties)
    .map((name) => `\`${name}\``)
    .join(", ")}`;
}

function rangeOf({ minimum, maximum }: Schema): string {
  const upper = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum === undefined && upper === undefined) return "";
  return upper === undefined ? ` from ${minimum}` : ` from ${minimum} to ${upper}`;
}

/** A bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll("|", String.raw`\|`);
}

function fence(example: object | undefined, what: string): string {
  if (example === undefined) throw new Error(`Add ${what} to tests/support/step-examples.ts.`);
  return `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``;
}
