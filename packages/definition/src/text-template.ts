import { ownProperty } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import type { ActionDefinition, TextTemplateInputs } from "./actions/action.ts";
import type { TemplateField } from "./step.ts";
import { TemplateError } from "./template-error.ts";
import {
  isTemplateRoot,
  parseLiteral,
  parseNamedPath,
  parseTemplate,
  parseTemplateText,
  splitText,
} from "./template-parser.ts";
import type { TemplatePath } from "./template-parser.ts";
import {
  compileTemplates,
  descend,
  literal,
  objectOf,
  SizeBudget,
  textForm,
  textOf,
} from "./template.ts";
import type { CompiledValue } from "./template.ts";

/*
 * Some actions take a text with placeholders of its own, which stand for members of the action's `values`;
 * beside them the text may have the templates that every config has. The text is resolved in two steps, so
 * that a template's value is never scanned for placeholders (D19): the step turns each template into a string
 * literal, `{{"…"}}`, and `renderText` fills in the rest.
 *
 * Where no values are given there are no placeholders, and the text is a string like any other. A text that
 * is one template, with values, has its placeholders in what the template brings.
 */

/**
 * Fills in a text's placeholders: `{{name}}`, `{{a.b[0]["c d"]}}`, in the grammar of templates (`\{{` is a
 * literal `{{`). Reads own properties of `values` only, in one pass. Missing values and null become nothing,
 * objects and arrays become JSON. Undefined `values` mean no placeholders: the text is returned unchanged.
 *
 * @throws TemplateError `TEMPLATE_SYNTAX`, and `TEMPLATE_TOO_LARGE` for a result of over 1 MiB
 */
export function renderText(template: string, values: unknown): string {
  if (values === undefined || !template.includes("{{")) return template;
  const { parts, problems } = splitText(template, readPlaceholder);
  const [problem] = problems;
  if (problem !== undefined) throw new TemplateError("TEMPLATE_SYNTAX", problem);
  const budget = new SizeBudget();
  let text = "";
  for (const part of parts) {
    const value = typeof part === "string" ? part : (part.value ?? descend(values, part.segments));
    if (value === null || value === undefined) continue;
    budget.spendValue(value);
    text += textForm(value);
  }
  return text;
}

/** The problems of the placeholders in an action's text, one sentence each. */
export function findTextProblems(inputs: JsonObject, action: ActionDefinition): string[] {
  const text = findText(inputs, action.textTemplate);
  return text === undefined ? [] : splitText(text, readPlacedOrPlaceholder).problems;
}

/** The template fields of an action's inputs. */
export function inputFields(
  inputs: JsonObject,
  action: ActionDefinition | undefined,
): TemplateField[] {
  const form = action?.textTemplate;
  const text = findText(inputs, form);
  if (form === undefined || text === undefined) return [{ path: [], value: inputs }];
  const { [form.template]: _text, ...others } = inputs;
  const templates = templatesOf(text).map(({ open, end }) => text.slice(open, end));
  return [
    { path: [], value: others },
    { path: [form.template], value: templates.join("") },
  ];
}

/** Compiles an action's inputs. */
export function compileInputs(
  inputs: JsonObject,
  action: ActionDefinition | undefined,
): CompiledValue {
  const form = action?.textTemplate;
  const text = findText(inputs, form);
  if (form === undefined || text === undefined) return compileTemplates(inputs);
  return objectOf(
    Object.keys(inputs).map((key) => [
      key,
      key === form.template ? compileText(text) : compileTemplates(inputs[key]),
    ]),
  );
}

/** Compiles the templates of a text. Other text stays as written, placeholders included. */
function compileText(text: string): CompiledValue {
  const templates = templatesOf(text);
  if (templates.length === 0) return literal(text);
  let position = 0;
  const parts: (string | TemplatePath)[] = [];
  for (const { path, open, end } of templates) {
    parts.push(text.slice(position, open), path);
    position = end;
  }
  return textOf([...parts, text.slice(position)], true);
}

/** The text, if it has placeholders; undefined otherwise. */
export function findText(
  inputs: JsonObject,
  form: TextTemplateInputs | undefined,
): string | undefined {
  if (form === undefined || !Object.hasOwn(inputs, form.values)) return undefined;
  const text = ownProperty(inputs, form.template);
  if (typeof text !== "string") return undefined;
  const { parts } = parseTemplateText(text);
  return parts.length === 1 && typeof parts[0] !== "string" ? undefined : text;
}

/** The templates of a text, in order, without its placeholders. */
function templatesOf(text: string): PlacedTemplate[] {
  return splitText(text, readPlacedOrPlaceholder).parts.flatMap((part) =>
    typeof part === "string" || part.path === null ? [] : { ...part, path: part.path },
  );
}

interface PlacedTemplate {
  path: TemplatePath;
  open: number;
  end: number;
}

/** The content between braces, and its position. The path is null for a placeholder. */
export interface PlacedPart {
  path: TemplatePath | null;
  open: number;
  end: number;
}

/** Reads a template. */
export function readPlaced(
  text: string,
  open: number,
): { template: PlacedPart; end: number } | string {
  const known = parseTemplate(text, open);
  if (typeof known === "string") return known;
  const { template: path, end } = known;
  return { template: { path, open, end }, end };
}

/** Reads a placeholder, or a template when the name is a template's root. */
export function readPlacedOrPlaceholder(
  text: string,
  open: number,
): { template: PlacedPart; end: number } | string {
  const placeholder = readPlaceholder(text, open);
  if (typeof placeholder === "string") return placeholder;
  const [root = ""] = placeholder.template.segments;
  if (isTemplateRoot(root)) return readPlaced(text, open);
  const { end } = placeholder;
  return { template: { path: null, open, end }, end };
}

interface Placeholder {
  /** The value of a quoted string; undefined for a path. */
  value: string | undefined;
  segments: readonly string[];
}

function readPlaceholder(
  text: string,
  open: number,
): { template: Placeholder; end: number } | string {
  const quoted = parseLiteral(text, open);
  if (quoted !== null) return { template: { value: quoted.value, segments: [] }, end: quoted.end };
  const named = parseNamedPath(text, open);
  if (typeof named === "string") return named;
  return { template: { value: undefined, segments: named.segments }, end: named.end };
}
