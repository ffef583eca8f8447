import type { Violation } from "@workflow/errors";
import { INFINITE_NUMBER, listInfiniteNumbers, parseJsonText } from "@workflow/json";

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
  const infinite = listInfiniteNumbers(text, value).map((path) => ({
    path,
    message: INFINITE_NUMBER,
  }));
  return { ok: true, value, text: JSON.stringify(value), infinite };
}

/** Violations of a part, their paths leading to it first. */
export function below(path: readonly string[], violations: readonly Violation[]): Violation[] {
  return violations.map((each) => ({ ...each, path: [...path, ...each.path] }));
}
