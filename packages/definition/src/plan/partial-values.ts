import { isJsonObject, measureJson, setOwnProperty } from "@workflow/json";
import { DEFINITION_LIMITS } from "../limits.ts";
import { createPatternMeter } from "../pattern.ts";
import type { PatternMeter } from "../pattern.ts";
import { splitText } from "../template-parser.ts";
import type { ReadTemplate, TemplatePath } from "../template-parser.ts";
import { resolvePath, textForm } from "../template.ts";
import type { TemplateScope } from "../template.ts";
import { readPlaced } from "../text-template.ts";
import type { PlacedPart } from "../text-template.ts";

/** The bytes of all resolved values of one plan. Over this limit templates stay as written. */
const PLAN_BYTES_MAX = 4 * 1024 * 1024;

/** The members of `run` that are known before a run exists. */
const KNOWN_OF_RUN: ReadonlySet<string> = new Set(["workflowId", "version"]);

/** Whether the value of a template is known before the run. */
export function isKnown({ root, segments }: Pick<TemplatePath, "root" | "segments">): boolean {
  return root === "input" || (root === "run" && KNOWN_OF_RUN.has(segments[0] ?? ""));
}

/** A resolved part of a config, and whether its size exceeds the limit of a run (D19). */
export interface PartialValue {
  value: unknown;
  isTooLarge: boolean;
}

/**
 * Resolves the templates whose values are known before the run. Other templates stay as written; all of them
 * do where the result would be too large.
 */
export class PartialResolver {
  readonly scope: TemplateScope;
  /** The steps of the patterns of all conditions of the plan together. */
  readonly meter: PatternMeter = createPatternMeter();
  #bytesLeft = PLAN_BYTES_MAX;

  constructor(scope: TemplateScope) {
    this.scope = scope;
  }

  /** Resolves a JSON value; `read` parses the templates in its strings. */
  resolve(value: unknown, read: ReadTemplate<PlacedPart> = readPlaced): PartialValue {
    const bytes = new Budget(Math.min(DEFINITION_LIMITS.templateResultBytesMax, this.#bytesLeft));
    const resolved = this.#resolveInside(value, read, bytes);
    if (bytes.left < 0) {
      return { value, isTooLarge: this.#bytesLeft >= DEFINITION_LIMITS.templateResultBytesMax };
    }
    this.#bytesLeft -= bytes.spent;
    return { value: resolved, isTooLarge: false };
  }

  #resolveInside(value: unknown, read: ReadTemplate<PlacedPart>, bytes: Budget): unknown {
    if (bytes.left < 0) return value;
    if (typeof value === "string") return this.#resolveText(value, read, bytes);
    if (Array.isArray(value)) {
      return value.map((item: unknown) => this.#resolveInside(item, read, bytes));
    }
    if (!isJsonObject(value)) return value;
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      setOwnProperty(result, key, this.#resolveInside(value[key], read, bytes));
    }
    return result;
  }

  #resolveText(text: string, read: ReadTemplate<PlacedPart>, bytes: Budget): unknown {
    if (!text.includes("{{")) return text;
    const { parts, problems } = splitText(text, read);
    if (problems.length > 0) return text;
    const templates = parts.filter((part) => typeof part !== "string");
    const [only] = templates;
    if (parts.length === 1 && only?.path && isKnown(only.path)) {
      const value = resolvePath(only.path, this.scope) ?? null;
      bytes.spend(value);
      return value;
    }
    const isWhole = templates.every(({ path }) => path !== null && isKnown(path));
    if (isWhole) return this.#joinWhole(parts, bytes);
    const pieces: string[] = [];
    let position = 0;
    for (const { path, open, end } of templates) {
      const written = text.slice(open, end);
      const isResolved = path !== null && isKnown(path);
      pieces.push(text.slice(position, open), isResolved ? this.#insert(path, bytes) : written);
      position = end;
    }
    return [...pieces, text.slice(position)].join("");
  }

  #joinWhole(parts: readonly (string | PlacedPart)[], bytes: Budget): string {
    let text = "";
    for (const part of parts) {
      if (typeof part === "string") text += part;
      else if (part.path !== null) text += this.#insert(part.path, bytes);
    }
    return text;
  }

  /** The text of a value inside a longer text; empty once the budget is spent. */
  #insert(path: TemplatePath, bytes: Budget): string {
    const value = resolvePath(path, this.scope);
    bytes.spend(value ?? "");
    return bytes.left < 0 ? "" : textForm(value);
  }
}

class Budget {
  left: number;
  spent = 0;

  constructor(bytes: number) {
    this.left = bytes;
  }

  spend(value: unknown): void {
    const bytes = measureJson(value, Math.max(0, this.left));
    this.left -= bytes;
    this.spent += bytes;
  }
}
