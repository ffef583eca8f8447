import { describeKind, oneOf } from "@workflow/catalog";
import type { Violation } from "@workflow/errors";
import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import {
  BINARY_OPERATORS,
  UNARY_OPERATORS,
  compareValues,
  testValue,
} from "./condition-operators.ts";
import type { BinaryOperator, UnaryOperator } from "./condition-operators.ts";
import { InvalidDefinitionError } from "./invalid-definition-error.ts";
import { DEFINITION_LIMITS } from "./limits.ts";
import { createPatternMeter } from "./pattern.ts";
import type { PatternMeter } from "./pattern.ts";
import { Problems } from "./problems.ts";
import { scanTemplates } from "./template-scan.ts";
import { compileTemplates, evaluate, resolvePath } from "./template.ts";
import type { CompiledValue, TemplateScope } from "./template.ts";

/** A compiled condition (D18), which may be evaluated many times. */
export type CompiledCondition =
  | { readonly kind: "all" | "any"; readonly conditions: readonly CompiledCondition[] }
  | { readonly kind: "not"; readonly condition: CompiledCondition }
  | {
      readonly kind: "compare";
      readonly operator: BinaryOperator;
      readonly left: CompiledValue;
      readonly right: CompiledValue;
      readonly ignoreCase: boolean;
    }
  | { readonly kind: "test"; readonly operator: UnaryOperator; readonly left: CompiledValue };

/**
 * Compiles a condition. Patterns are compiled on first use. `checkCondition` reports the violations
 * beforehand.
 *
 * @throws InvalidDefinitionError for an invalid condition
 */
export function compileCondition(value: unknown): CompiledCondition {
  const problems = new Problems({ skipsPatterns: true });
  const condition = parseCondition(value, [], problems);
  if (condition === undefined) throw new InvalidDefinitionError(problems.violations);
  return condition;
}

/** The violations of a condition; empty when the condition can be compiled. */
export function checkCondition(value: unknown): Violation[] {
  const problems = new Problems();
  checkConditionInto(problems, value, []);
  return problems.violations;
}

/** Adds the violations of a condition at a path of a larger definition. */
export function checkConditionInto(
  problems: Problems,
  value: unknown,
  path: readonly string[],
): void {
  parseCondition(value, path, problems);
}

/**
 * Whether a condition holds. Stops at the first part that decides. Values of an unexpected type give false.
 *
 * @param meter shared by conditions that are evaluated without a pause
 * @throws TemplateError for a missing secret, an operand of over 1 MiB, or patterns that together would block
 * the process
 */
export function evaluateCondition(
  condition: CompiledCondition,
  scope: TemplateScope,
  meter: PatternMeter = createPatternMeter(),
): boolean {
  switch (condition.kind) {
    case "all":
      return condition.conditions.every((inner) => evaluateCondition(inner, scope, meter));
    case "any":
      return condition.conditions.some((inner) => evaluateCondition(inner, scope, meter));
    case "not":
      return !evaluateCondition(condition.condition, scope, meter);
    case "compare":
      return compareValues(
        condition.operator,
        operand(condition.left, scope),
        operand(condition.right, scope),
        { ignoreCase: condition.ignoreCase, meter },
      );
    case "test":
      return testValue(condition.operator, operand(condition.left, scope));
    default:
      return condition satisfies never;
  }
}

/** A lone template is read in place, not built, so its value is neither measured nor limited. */
function operand(value: CompiledValue, scope: TemplateScope): unknown {
  return value.kind === "path" ? resolvePath(value.path, scope) : evaluate(value, scope).value;
}

const FORMS = ["all", "any", "not", "operator"] as const;

function parseCondition(
  value: unknown,
  path: readonly string[],
  problems: Problems,
  depth = 1,
): CompiledCondition | undefined {
  if (!isJsonObject(value)) {
    problems.add(
      path,
      `must be a condition: an object with left and operator, or with all, any or not; it is ${describeKind(value)}`,
    );
    return undefined;
  }
  if (depth > DEFINITION_LIMITS.conditionDepthMax) {
    problems.add(path, `conditions nest at most ${DEFINITION_LIMITS.conditionDepthMax} deep`);
    return undefined;
  }
  const forms = FORMS.filter((name) => Object.hasOwn(value, name));
  const [form] = forms;
  if (form === undefined || forms.length > 1) {
    problems.add(path, "a condition has exactly one of operator (with left), all, any and not");
    return undefined;
  }
  switch (form) {
    case "all":
    case "any":
      return parseGroup(form, value[form], { path: [...path, form], problems, depth });
    case "not": {
      const condition = parseCondition(value["not"], [...path, "not"], problems, depth + 1);
      return condition && { kind: "not", condition };
    }
    case "operator":
      return parseComparison(value, path, problems);
    default:
      return form satisfies never;
  }
}

function parseGroup(
  kind: "all" | "any",
  value: unknown,
  { path, problems, depth }: { path: readonly string[]; problems: Problems; depth: number },
): CompiledCondition | undefined {
  if (!Array.isArray(value) || value.length === 0) {
    problems.add(path, "must be an array with at least one condition");
    return undefined;
  }
  const conditions: CompiledCondition[] = [];
  for (const [index, item] of value.entries()) {
    const condition = parseCondition(item, [...path, String(index)], problems, depth + 1);
    if (condition !== undefined) conditions.push(condition);
    if (problems.isFull) break;
  }
  return conditions.length === value.length ? { kind, conditions } : undefined;
}

function parseComparison(
  value: JsonObject,
  path: readonly string[],
  problems: Problems,
): CompiledCondition | undefined {
  const left = parseOperand(value, "left", path, problems);
  const unary = UNARY_OPERATORS.find((known) => known === value["operator"]);
  if (unary !== undefined) return left && { kind: "test", operator: unary, left };

  const operator = BINARY_OPERATORS.find((known) => known === value["operator"]);
  if (operator === undefined) {
    const known = [...BINARY_OPERATORS, ...UNARY_OPERATORS];
    problems.add([...path, "operator"], `must be ${oneOf(known)}`);
    return undefined;
  }
  const right = parseOperand(value, "right", path, problems);
  const ignoreCase = value["ignoreCase"] ?? false;
  if (typeof ignoreCase !== "boolean") {
    problems.add([...path, "ignoreCase"], "must be true or false");
    return undefined;
  }
  if (left === undefined || right === undefined) return undefined;
  if (
    operator === "matches" &&
    !isPossiblePattern(right, ignoreCase, [...path, "right"], problems)
  ) {
    return undefined;
  }
  return { kind: "compare", operator, left, right, ignoreCase };
}

function parseOperand(
  value: JsonObject,
  side: "left" | "right",
  path: readonly string[],
  problems: Problems,
): CompiledValue | undefined {
  if (!Object.hasOwn(value, side)) {
    problems.add([...path, side], "is required; it may be any JSON value or a template");
    return undefined;
  }
  const bad = scanTemplates(value[side]).problems;
  problems.addAll([...path, side], bad);
  return bad.length === 0 ? compileTemplates(value[side]) : undefined;
}

/** A literal pattern is tried now; a pattern from a template is tried when its value is known. */
function isPossiblePattern(
  right: CompiledValue,
  ignoreCase: boolean,
  path: readonly string[],
  problems: Problems,
): boolean {
  if (right.kind === "path" || right.kind === "text") return true;
  if (right.kind !== "literal" || typeof right.value !== "string") {
    problems.add(path, "must be a regular expression as a string");
    return false;
  }
  return problems.tryPattern(right.value, ignoreCase, path);
}
