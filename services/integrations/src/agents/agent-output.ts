import type { JsonSchemaValidator } from "@workflow/definition";
import type { Violation } from "@workflow/errors";
import { isStorableText, listInfiniteNumbers, NESTING_MAX, parseJsonText } from "@workflow/json";

/** A model's answer as an output, or the reasons why it is none. */
export type AgentOutput =
  | { readonly ok: true; readonly outputJson: string }
  | { readonly ok: false; readonly violations: readonly Violation[] };

/**
 * Reads an answer: JSON that fits the schema, or text without a schema. When the whole answer is one
 * code fence, its content counts, because models often write JSON that way. JSON inside other text does
 * not count.
 */
export function readOutput(text: string, schema: JsonSchemaValidator | null): AgentOutput {
  if (schema === null) return text.trim() === "" ? empty() : fits(text);
  const json = withoutFence(text.trim());
  if (json === "") return empty();
  const parsed = parse(json);
  if (!parsed.ok) return wrong(parsed.message);
  const infinite = listInfiniteNumbers(json, parsed.value);
  if (infinite.length > 0) {
    return refused(infinite.map((path) => ({ path, message: "is too large a number" })));
  }
  const violations = schema.validate(parsed.value);
  return violations.length === 0 ? fits(parsed.value) : refused(violations);
}

/** A code fence around the whole answer, with or without the word json. No other Markdown is recognized. */
const FENCE = /^```(?:json|JSON)?[ \t]*\r?\n(.*)\r?\n?```$/s;

function withoutFence(text: string): string {
  const inside = FENCE.exec(text)?.[1];
  return inside === undefined || inside.includes("```") ? text : inside.trim();
}

type Parsed = { ok: true; value: unknown } | { ok: false; message: string };

/** Objects and arrays follow the rules of every body (D2). A schema may also ask for a single value. */
function parse(json: string): Parsed {
  if (json.startsWith("{")) return parseJsonText(json, "object");
  if (json.startsWith("[")) return parseJsonText(json, "array");
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "string" && !isStorableText(value)) {
      return { ok: false, message: "must not contain NUL or unpaired surrogates" };
    }
    return { ok: true, value };
  } catch {
    return { ok: false, message: `is not valid JSON of at most ${NESTING_MAX} levels` };
  }
}

function fits(value: unknown): AgentOutput {
  return { ok: true, outputJson: JSON.stringify(value) };
}

function empty(): AgentOutput {
  return wrong("is empty");
}

function wrong(message: string): AgentOutput {
  return refused([{ path: [], message }]);
}

function refused(violations: readonly Violation[]): AgentOutput {
  return { ok: false, violations };
}
