import { isJsonObject, measureJson, setOwnProperty } from "@workflow/json";
import { DEFINITION_LIMITS } from "./limits.ts";
import { TemplateError } from "./template-error.ts";
import { parseTemplateText } from "./template-parser.ts";
import type { TemplatePath, TextPart } from "./template-parser.ts";

/** The text that replaces a secret in a masked result (D19). */
export const SECRET_MASK = "••••";

/**
 * The scope of templates. Values are JSON and never changed. `steps` returns `{output, status, …}` for a step
 * that has run. A Map is fine for `steps` and for `secrets`.
 */
export interface TemplateScope {
  readonly input: unknown;
  readonly trigger: unknown;
  readonly run: unknown;
  readonly loop?: unknown;
  readonly steps: { get(stepId: string): unknown };
  readonly secrets: { get(key: string): string | undefined };
}

/**
 * A value with its templates parsed. A part without templates is one `literal` of any size, and evaluating it
 * costs nothing.
 */
export type CompiledValue =
  | { readonly kind: "literal"; readonly value: unknown; readonly usesSecrets: false }
  | { readonly kind: "path"; readonly path: TemplatePath; readonly usesSecrets: boolean }
  | {
      readonly kind: "text";
      readonly parts: readonly TextPart[];
      /** Whether values become string literals in braces, for `renderText` to read them back. */
      readonly quoted: boolean;
      readonly usesSecrets: boolean;
    }
  | {
      readonly kind: "array";
      readonly items: readonly CompiledValue[];
      readonly usesSecrets: boolean;
    }
  | {
      readonly kind: "object";
      readonly entries: readonly (readonly [key: string, value: CompiledValue])[];
      readonly usesSecrets: boolean;
    };

type CompiledText = Extract<CompiledValue, { kind: "text" }>;

/** A resolved value and its twin for storage; the same object when no secret is in it. */
export interface EvaluatedValue {
  value: unknown;
  masked: unknown;
}

/**
 * Parses every string inside a JSON value, object keys excepted.
 *
 * @throws TemplateError `TEMPLATE_SYNTAX` at the first bad template; `scanTemplates` finds them all
 */
export function compileTemplates(value: unknown): CompiledValue {
  if (typeof value === "string") return compileText(value);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => compileTemplates(item));
    if (items.every((item, index) => isUnchanged(item, value[index]))) return literal(value);
    return { kind: "array", items, usesSecrets: items.some((item) => item.usesSecrets) };
  }
  if (isJsonObject(value)) {
    const entries = Object.keys(value).map((key) => [key, compileTemplates(value[key])] as const);
    if (entries.every(([key, entry]) => isUnchanged(entry, value[key]))) return literal(value);
    return objectOf(entries);
  }
  return literal(value);
}

/** Like `compileTemplates`, for a part of a config that may be left out. */
export function compileOptional(value: unknown): CompiledValue | undefined {
  return value === undefined ? undefined : compileTemplates(value);
}

/**
 * Resolves the templates of a compiled value in one pass: a resolved value is never scanned for templates
 * again. A string that is one template keeps the type of its value. A missing path gives null there, and an
 * empty text inside a longer string.
 *
 * @param bytesMax of the result as JSON; 1 MiB (D19), more for files only
 * @throws TemplateError `TEMPLATE_TOO_LARGE` (while building, before memory is spent) and `MISSING_SECRET`
 */
export function evaluate(
  compiled: CompiledValue,
  scope: TemplateScope,
  bytesMax: number = DEFINITION_LIMITS.templateResultBytesMax,
): EvaluatedValue {
  if (compiled.kind === "literal") return { value: compiled.value, masked: compiled.value };
  const value = build(compiled, scope, new SizeBudget(bytesMax), false);
  if (!compiled.usesSecrets) return { value, masked: value };
  return { value, masked: build(compiled, scope, new SizeBudget(bytesMax), true) };
}

/**
 * The value at a template's path, undefined when there is none. Own properties and array indices
 * only: neither `length` nor anything inherited exists.
 *
 * @throws TemplateError `MISSING_SECRET`
 */
export function resolvePath(path: TemplatePath, scope: TemplateScope): unknown {
  const [first = "", ...others] = path.segments;
  switch (path.root) {
    case "secrets":
      return requireSecret(first, scope);
    case "steps":
      return descend(scope.steps.get(first), others);
    case "input":
      return descend(scope.input, path.segments);
    case "trigger":
      return descend(scope.trigger, path.segments);
    case "run":
      return descend(scope.run, path.segments);
    case "loop":
      return descend(scope.loop, path.segments);
    default:
      return path.root satisfies never;
  }
}

/** A value without templates. */
export function literal(value: unknown): CompiledValue {
  return { kind: "literal", value, usesSecrets: false };
}

/** An object whose members are compiled. */
export function objectOf(
  entries: readonly (readonly [key: string, value: CompiledValue])[],
): CompiledValue {
  return { kind: "object", entries, usesSecrets: entries.some(([, entry]) => entry.usesSecrets) };
}

function isUnchanged(compiled: CompiledValue, original: unknown): boolean {
  return compiled.kind === "literal" && compiled.value === original;
}

function compileText(text: string): CompiledValue {
  if (!text.includes("{{")) return literal(text);
  const { parts, problems } = parseTemplateText(text);
  const [problem] = problems;
  if (problem !== undefined) throw new TemplateError("TEMPLATE_SYNTAX", problem);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    if (typeof only === "string") return literal(only);
    return { kind: "path", path: only, usesSecrets: only.root === "secrets" };
  }
  return textOf(parts, false);
}

/** A longer text with templates in it. */
export function textOf(parts: readonly TextPart[], quoted: boolean): CompiledValue {
  const usesSecrets = parts.some((part) => typeof part !== "string" && part.root === "secrets");
  return { kind: "text", parts, quoted, usesSecrets };
}

const MIB = 1024 * 1024;

/** Counts down the bytes that a result may still take. */
export class SizeBudget {
  private readonly bytesMax: number;
  private bytesLeft: number;

  constructor(bytesMax: number = DEFINITION_LIMITS.templateResultBytesMax) {
    this.bytesMax = bytesMax;
    this.bytesLeft = bytesMax;
  }

  spend(bytes: number): void {
    this.bytesLeft -= bytes;
    if (this.bytesLeft < 0) {
      throw new TemplateError(
        "TEMPLATE_TOO_LARGE",
        `The value of the templates is larger than ${this.bytesMax / MIB} MiB or nested too deeply.`,
      );
    }
  }

  spendValue(value: unknown): void {
    this.spend(measureJson(value, this.bytesLeft));
  }
}

function build(
  compiled: CompiledValue,
  scope: TemplateScope,
  budget: SizeBudget,
  mask: boolean,
): unknown {
  switch (compiled.kind) {
    case "literal":
      budget.spendValue(compiled.value);
      return compiled.value;
    case "path": {
      const value = readPath(compiled.path, scope, mask) ?? null;
      budget.spendValue(value);
      return value;
    }
    case "text":
      return buildText(compiled, scope, budget, mask);
    case "array":
      return compiled.items.map((item) => {
        budget.spend(1);
        return build(item, scope, budget, mask);
      });
    case "object": {
      const result: Record<string, unknown> = {};
      for (const [key, entry] of compiled.entries) {
        budget.spendValue(key);
        setOwnProperty(result, key, build(entry, scope, budget, mask));
      }
      return result;
    }
    default:
      return compiled satisfies never;
  }
}

function buildText(
  { parts, quoted }: CompiledText,
  scope: TemplateScope,
  budget: SizeBudget,
  mask: boolean,
): string {
  let text = "";
  for (const part of parts) {
    const value = typeof part === "string" ? part : readPath(part, scope, mask);
    if (value === null || value === undefined) continue;
    budget.spendValue(value);
    const inserted = textForm(value);
    text += quoted && typeof part !== "string" ? `{{${JSON.stringify(inserted)}}}` : inserted;
  }
  return text;
}

/**
 * The text of a value inside a longer text: a string unchanged, other values as JSON, an absent value as
 * nothing.
 */
export function textForm(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function readPath(path: TemplatePath, scope: TemplateScope, mask: boolean): unknown {
  const value = resolvePath(path, scope);
  return mask && path.root === "secrets" ? SECRET_MASK : value;
}

function requireSecret(key: string, scope: TemplateScope): string {
  const value = scope.secrets.get(key);
  if (value !== undefined) return value;
  throw new TemplateError(
    "MISSING_SECRET",
    `The secret ${JSON.stringify(key)} does not exist.`,
    key,
  );
}

/** The value at a path of own properties and array indices; undefined when there is none. */
export function descend(start: unknown, segments: readonly string[]): unknown {
  let value = start;
  for (const segment of segments) {
    if (Array.isArray(value)) {
      if (segment === "length" || !Object.hasOwn(value, segment)) return undefined;
      const items: readonly unknown[] = value;
      value = items[Number(segment)];
    } else if (isJsonObject(value)) {
      if (!Object.hasOwn(value, segment)) return undefined;
      value = value[segment];
    } else {
      return undefined;
    }
  }
  return value;
}
