import type { Violation } from "@workflow/errors";
import { INFINITE_NUMBER, listInfiniteNumbers, parseJsonText } from "@workflow/json";

/** A caller's JSON text, or its problem in words for the caller. */
export type JsonReading =
  | {
      ok: true;
      /** The value as JavaScript reads it. */
      value: unknown;
      /** The stored form: the value, serialized again. */
      text: string;
      /** Numbers that JavaScript reads as infinite and JSON cannot express; normally none. */
      infinite: Violation[];
    }
  | { ok: false; message: string };

/**
 * Parses a JSON text into the form that is checked, stored and executed: of members with one name
 * the last, numbers as JavaScript prints them (D5), no whitespace. A key called `__proto__` stays.
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

/** The violations of a part, with the path of the part in front. */
export function below(path: readonly string[], violations: readonly Violation[]): Violation[] {
  return violations.map((each) => ({ ...each, path: [...path, ...each.path] }));
}
