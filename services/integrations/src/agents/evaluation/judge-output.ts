import { compileJsonSchema } from "@workflow/definition";
import { ExpressionError } from "@workflow/expressions";
import type { ExpressionPool } from "@workflow/expressions";
import { isJsonObject, jsonEquals } from "@workflow/json";
import type { EvaluationCase } from "./evaluation-case.ts";

/** The limit of a value's characters in a difference or violation. */
const SHOWN_CHARS_MAX = 100;
const VIOLATIONS_SHOWN_MAX = 3;
const PATH_CHARS_MAX = 200;

/**
 * Compares an output with the expectation.
 *
 * @returns the reason why they differ, for people; null when they match
 * @throws the signal's reason when it was aborted
 */
export async function judgeOutput(
  pool: Pick<ExpressionPool, "evaluate">,
  { expectation, inputJson }: EvaluationCase,
  { companyId, outputJson }: { companyId: string; outputJson: string },
  signal: AbortSignal,
): Promise<string | null> {
  switch (expectation.kind) {
    case "equals":
      return explainDifference(expectation.value, JSON.parse(outputJson));
    case "schema":
      return explainMisfit(expectation.schema, JSON.parse(outputJson));
    case "expression": {
      const document = `{"input":${inputJson},"output":${outputJson}}`;
      const { expression } = expectation;
      return evaluate(pool, { companyId, expression, document }, signal);
    }
    default:
      return expectation satisfies never;
  }
}

function explainDifference(expected: unknown, output: unknown): string | null {
  if (jsonEquals(expected, output)) return null;
  const { path, left, right } = findDifference(expected, output);
  return `${cut(path, PATH_CHARS_MAX)}: expected ${show(left)}, got ${show(right)}.`;
}

/** The first path at which two unequal values differ. */
function findDifference(
  expected: unknown,
  output: unknown,
): { path: string; left: unknown; right: unknown } {
  let [path, left, right] = ["output", expected, output];
  for (;;) {
    const key = differingKey(left, right);
    if (key === null) return { path, left, right };
    path += `.${key}`;
    left = memberOf(left, key);
    right = memberOf(right, key);
  }
}

/** Null where two values differ as a whole: in their kind, or as plain values. */
function differingKey(left: unknown, right: unknown): string | null {
  const areLists = Array.isArray(left) && Array.isArray(right);
  if (!areLists && !(isJsonObject(left) && isJsonObject(right))) return null;
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  const differs = (key: string): boolean =>
    !Object.hasOwn(left, key) ||
    !Object.hasOwn(right, key) ||
    !jsonEquals(memberOf(left, key), memberOf(right, key));
  return [...keys].find(differs) ?? null;
}

/** A value's own member; undefined without one. Members of the prototype do not count. */
function memberOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : cut(JSON.stringify(value), SHOWN_CHARS_MAX);
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed()}…`;
}

/** The schema is compiled again unless it is cached, because fifty compiled schemas would take many MiB. */
function explainMisfit(schema: Readonly<Record<string, unknown>>, output: unknown): string | null {
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok) throw new Error("A schema was compiled before and can't be now.");
  const violations = compiled.validate(output);
  if (violations.length === 0) return null;
  const shown = violations
    .slice(0, VIOLATIONS_SHOWN_MAX)
    .map(({ path, message }) => `${cut(["output", ...path].join("."), PATH_CHARS_MAX)} ${message}`);
  const more = violations.length - shown.length;
  return `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
}

async function evaluate(
  pool: Pick<ExpressionPool, "evaluate">,
  { companyId, expression, document }: { companyId: string; expression: string; document: string },
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const result = await pool.evaluate(companyId, expression, document, signal);
    if (result === "true") return null;
    return `The expression gives ${cut(result, SHOWN_CHARS_MAX)}, not true.`;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ExpressionError)) throw error;
    return `The expression gives no result: ${error.message}`;
  }
}
