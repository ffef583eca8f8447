import { NESTING_MAX } from "@workflow/json";
import { nestsTooDeep } from "../../domain/json-nesting.ts";
import { StepError } from "../../domain/step-error.ts";
import { ActionInputs, invalidInput } from "./inputs.ts";
import { findJsonError } from "./json-error.ts";

const INDENT_MAX = 10;
/** The largest result of one step (D4). */
const TEXT_CHARS_MAX = 4 * 1024 * 1024;

/** Reads a JSON text: `{text}` → `{value}`. A member called `__proto__` is an ordinary member. */
export function jsonParse(resolved: unknown): { value: unknown } {
  const text = new ActionInputs(resolved).text("text");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's own message quotes the text and seldom tells the position.
    const { line, column } = findJsonError(text);
    throw invalidInput("text", `is not valid JSON at line ${line}, column ${column}`);
  }
  if (nestsTooDeep(value, NESTING_MAX)) {
    throw invalidInput("text", `nests more than ${NESTING_MAX} arrays and objects`);
  }
  return { value };
}

/** Writes a value as JSON: `{value, indent? = 0}` → `{text}`; indent is a number of spaces. */
export function jsonStringify(resolved: unknown): { text: string } {
  const inputs = new ActionInputs(resolved);
  const value = inputs.value("value");
  if (value === undefined) throw invalidInput("value", "is required; it may be any JSON value");
  const indent = inputs.has("indent") ? inputs.number("indent") : 0;
  if (!Number.isInteger(indent) || indent < 0 || indent > INDENT_MAX) {
    throw invalidInput("indent", `must be a whole number from 0 to ${INDENT_MAX}`);
  }
  if (nestsTooDeep(value, NESTING_MAX)) {
    throw invalidInput("value", `nests more than ${NESTING_MAX} arrays and objects`);
  }
  // Deeply nested small items may take hundreds of times their size once they are indented.
  if (indent > 0 && indentation(value, indent, 1) > TEXT_CHARS_MAX) throw tooLarge();
  const text = JSON.stringify(value, null, indent);
  if (text.length > TEXT_CHARS_MAX) throw tooLarge();
  return { text };
}

/**
 * The characters that the indentation of a value takes, line breaks included. Counting may stop at the
 * limit.
 */
function indentation(value: unknown, indent: number, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  const items: readonly unknown[] = Object.values(value);
  if (items.length === 0) return 0;
  let chars = items.length * (1 + indent * depth) + 1 + indent * (depth - 1);
  for (const item of items) {
    if (chars > TEXT_CHARS_MAX) break;
    chars += indentation(item, indent, depth + 1);
  }
  return chars;
}

function tooLarge(): StepError {
  return new StepError("OUTPUT_TOO_LARGE", "The step's output is larger than 4 MiB.", {
    retryable: false,
  });
}
