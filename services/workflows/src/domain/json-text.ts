import { parseJsonText } from "@workflow/definition";
import type { Violation } from "@workflow/errors";

/** A JSON text of a caller, or what is wrong with it in words for the caller. */
export type JsonReading =
  | {
      ok: true;
      /** As JavaScript reads it. */
      value: unknown;
      /** What is stored: the value, written again. */
      text: string;
      /** Numbers that JavaScript takes for infinite and that JSON can't write; normally none. */
      infinite: Violation[];
    }
  | { ok: false; message: string };

/**
 * Reads a JSON text into the one form in which it is checked, stored and executed: of members with one
 * name the last, numbers as JavaScript prints them (D5), no spaces. A key called `__proto__` stays.
 */
export function readJson(text: string, kind: "object" | "array"): JsonReading {
  if (text === "") return { ok: false, message: `is required and must be a JSON ${kind}` };
  const parsed = parseJsonText(text, kind);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  const infinite = PERHAPS_INFINITE.test(text) ? listInfinite(value) : [];
  return { ok: true, value, text: JSON.stringify(value), infinite };
}

/** Beyond 1.8e308 a number has an exponent of three digits, or more than 200 digits of its own. */
const PERHAPS_INFINITE = /[eE]\+?\d{3}|\d{200}/;

/** Violations of a part, their paths leading to it first. */
export function below(path: readonly string[], violations: readonly Violation[]): Violation[] {
  return violations.map((each) => ({ ...each, path: [...path, ...each.path] }));
}

function listInfinite(root: unknown): Violation[] {
  const found: Violation[] = [];
  const path: string[] = [];
  // Recursion is safe: the nesting was checked before.
  const visit = (value: unknown): void => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      found.push({ path: [...path], message: "is too large for a number (at most about 1.8e308)" });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        path.push(key);
        visit(item);
        path.pop();
      }
    }
  };
  visit(root);
  return found;
}
