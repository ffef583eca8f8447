import { setImmediate as nextTurn } from "node:timers/promises";
import {
  compileJsonSchema,
  countSchemaParts,
  DEFINITION_LIMITS,
  estimateSchemaPatterns,
} from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { isJsonObject, isStorableText, parseJsonText } from "@workflow/json";
import type { AgentCase } from "@workflow/proto/integrations/v1/agent_evaluations";
import { hasAtMost, INPUT_BYTES_MAX, USER_MESSAGE_CHARS_MAX } from "../limits.ts";
import type { EvaluationCase, Expectation } from "./evaluation-case.ts";

const CASES_MAX = 50;
const NAME_CHARS_MAX = 255;
/** The limit of all cases together. A company holds them in memory for the whole evaluation. */
const BYTES_SUM_MAX = 2 * 1024 * 1024;
/** The limit of all different schemas together; compiling takes some 0.1 ms a part. */
const SCHEMA_PARTS_SUM_MAX = 2_000;
const { jsonSchemaPartsEachMax, patternSizeSumMax } = DEFINITION_LIMITS;
const { expressionCharsMax, expressionCharsSumMax } = DEFINITION_LIMITS;

/**
 * Checks the parts of cases that need no other service and no agent. Paths of violations are those of
 * the REST body.
 *
 * @throws AppError BAD_REQUEST with every problem
 */
export async function parseCases(cases: readonly AgentCase[]): Promise<EvaluationCase[]> {
  if (cases.length < 1 || cases.length > CASES_MAX) {
    throw invalidCases([{ path: ["cases"], message: `must have 1 to ${CASES_MAX} cases` }]);
  }
  if (sizeOf(cases) > BYTES_SUM_MAX) {
    const message = `must have at most ${BYTES_SUM_MAX} bytes together`;
    throw invalidCases([{ path: ["cases"], message }]);
  }
  const problems = new CaseProblems();
  const parsed: EvaluationCase[] = [];
  for (const [index, each] of cases.entries()) {
    const found = parseCase(each, ["cases", String(index)], problems);
    if (found !== null) parsed.push(found);
    // Compiling a schema takes up to 40 ms.
    await nextTurn();
  }
  problems.throwIfAny();
  return parsed;
}

/** The error for wrong cases in a request. */
export function invalidCases(violations: readonly Violation[]): AppError {
  const text = violations.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
  return new AppError("BAD_REQUEST", `The evaluation is not valid: ${text}.`, { violations });
}

/** Collects problems, and counts all schemas and all expressions against their limits. */
class CaseProblems {
  readonly #violations: Violation[] = [];
  readonly #schemas = new Set<string>();
  #partsLeft = SCHEMA_PARTS_SUM_MAX;
  #patternsLeft: number = patternSizeSumMax;
  readonly #expressions = new Set<string>();
  #expressionCharsLeft: number = expressionCharsSumMax;

  add(path: readonly string[], message: string): null {
    this.#violations.push({ path: [...path], message });
    return null;
  }

  /** Compiles a schema that no earlier case had. */
  trySchema(schema: unknown, text: string, path: readonly string[]): void {
    if (this.#schemas.has(text)) return;
    this.#schemas.add(text);
    const parts = countSchemaParts(schema);
    this.#partsLeft -= parts;
    this.#patternsLeft -= estimateSchemaPatterns(schema);
    if (parts > jsonSchemaPartsEachMax) {
      this.add(path, `must have at most ${jsonSchemaPartsEachMax} objects, arrays and booleans`);
    } else if (this.#partsLeft < 0) {
      const most = `${SCHEMA_PARTS_SUM_MAX} objects, arrays and booleans together`;
      this.add(path, `cannot be used: the schemas of all cases have at most ${most}`);
    } else if (this.#patternsLeft < 0) {
      this.add(path, "cannot be used: the patterns of all cases are too large together");
    } else {
      const compiled = compileJsonSchema(schema);
      if (compiled.ok) return;
      for (const { path: inside, message } of compiled.violations) {
        this.add([...path, ...inside], message);
      }
    }
  }

  /** Counts an expression that no earlier case had. */
  countExpression(expression: string, path: readonly string[]): void {
    if (this.#expressions.has(expression)) return;
    this.#expressions.add(expression);
    this.#expressionCharsLeft -= expression.length;
    if (this.#expressionCharsLeft >= 0) return;
    const most = `${expressionCharsSumMax} characters together`;
    this.add(path, `cannot be used: the expressions of all cases have at most ${most}`);
  }

  throwIfAny(): void {
    if (this.#violations.length > 0) throw invalidCases(this.#violations);
  }
}

function parseCase(
  { name, inputJson, userMessage, expect }: AgentCase,
  path: readonly string[],
  problems: CaseProblems,
): EvaluationCase | null {
  checkText(name, NAME_CHARS_MAX, [...path, "name"], problems);
  checkText(userMessage, USER_MESSAGE_CHARS_MAX, [...path, "userMessage"], problems);
  const input = parseInput(inputJson, [...path, "input"], problems);
  const expectation = parseExpectation(expect, [...path, "expect"], problems);
  if (input === null || expectation === null) return null;
  const message = userMessage === undefined || userMessage === "" ? null : userMessage;
  return { name, input, inputJson, userMessage: message, expectation };
}

function checkText(
  text: string | undefined,
  charsMax: number,
  path: readonly string[],
  problems: CaseProblems,
): void {
  if (text === undefined) return;
  if (!isStorableText(text)) problems.add(path, "must not contain NUL or unpaired surrogates");
  else if (!hasAtMost(text, charsMax)) {
    problems.add(path, `must have at most ${charsMax} characters`);
  }
}

function parseInput(
  text: string,
  path: readonly string[],
  problems: CaseProblems,
): Readonly<Record<string, unknown>> | null {
  if (Buffer.byteLength(text) > INPUT_BYTES_MAX) {
    return problems.add(path, `must have at most ${INPUT_BYTES_MAX} bytes`);
  }
  const parsed = parseJsonText(text, "object");
  if (!parsed.ok) return problems.add(path, parsed.message);
  return isJsonObject(parsed.value) ? parsed.value : problems.add(path, "must be a JSON object");
}

function parseExpectation(
  expect: AgentCase["expect"],
  path: readonly string[],
  problems: CaseProblems,
): Expectation | null {
  switch (expect?.$case) {
    case undefined:
      return problems.add(path, "must have one of equals, schema and expression");
    case "equalsJson":
      return parseEquals(expect.value, [...path, "equals"], problems);
    case "schemaJson":
      return parseSchema(expect.value, [...path, "schema"], problems);
    case "expression":
      return parseExpression(expect.value, [...path, "expression"], problems);
    default:
      return expect satisfies never;
  }
}

/** Parses any JSON value. The array around the text makes sure that the text holds exactly one value. */
function parseEquals(
  text: string,
  path: readonly string[],
  problems: CaseProblems,
): Expectation | null {
  const parsed = parseJsonText(`[${text}]`, "array");
  if (!parsed.ok) return problems.add(path, parsed.message);
  if (!Array.isArray(parsed.value) || parsed.value.length !== 1) {
    return problems.add(path, "must be one JSON value");
  }
  const [value]: unknown[] = parsed.value;
  return { kind: "equals", value };
}

function parseSchema(
  text: string,
  path: readonly string[],
  problems: CaseProblems,
): Expectation | null {
  const parsed = parseJsonText(text, "object");
  if (!parsed.ok) return problems.add(path, parsed.message);
  if (!isJsonObject(parsed.value)) return problems.add(path, "must be a JSON Schema");
  problems.trySchema(parsed.value, text, path);
  return { kind: "schema", schema: parsed.value };
}

function parseExpression(
  expression: string,
  path: readonly string[],
  problems: CaseProblems,
): Expectation | null {
  if (expression === "" || expression.length > expressionCharsMax) {
    return problems.add(path, `must have 1 to ${expressionCharsMax} characters`);
  }
  if (!isStorableText(expression)) {
    return problems.add(path, "must not contain NUL or unpaired surrogates");
  }
  problems.countExpression(expression, path);
  return { kind: "expression", expression };
}

function sizeOf(cases: readonly AgentCase[]): number {
  return cases
    .flatMap(({ inputJson, userMessage, expect }) => [inputJson, userMessage, expect?.value])
    .reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
}
