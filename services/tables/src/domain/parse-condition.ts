import { isJsonObject } from "@workflow/json";
import { isCalendarDay } from "./calendar-day.ts";
import { textOf } from "./cell-text.ts";
import type { Column } from "./column.ts";
import type { FieldPath } from "./problems.ts";
import type { Condition, OrderOperator, TextOperator } from "./row-query.ts";

const BLANK_OPERATORS = ["is_empty", "is_not_empty"] as const;
const EQUALITY_OPERATORS = ["equals", "not_equals"] as const;
const JSON_OPERATORS = ["contains", "not_contains", ...EQUALITY_OPERATORS] as const;
const TEXT_OPERATORS = [
  ...JSON_OPERATORS,
  "starts_with",
  "ends_with",
] as const satisfies readonly TextOperator[];
const ORDER_OPERATORS = [
  ...EQUALITY_OPERATORS,
  "greater_than",
  "greater_than_or_equal",
  "less_than",
  "less_than_or_equal",
] as const satisfies readonly OrderOperator[];

/**
 * Reads the `condition` of a clause by its column's type. A wrong condition is reported, and the result is null.
 * The operators is_empty and is_not_empty have no operand, so an operand beside them is ignored.
 */
export function parseCondition(value: unknown, column: Column, place: FieldPath): Condition | null {
  if (!isJsonObject(value)) {
    place.report("must be an object with operator and, by the operator, value");
    return null;
  }
  for (const name of Object.keys(value)) {
    if (name !== "operator" && name !== "value") {
      place.at(name).report("is not known; a condition has operator and value");
    }
  }
  const { operator, value: operand } = value;
  if (isOneOf(BLANK_OPERATORS, operator)) return { on: "blank", operator };
  return parseTyped({ operator, operand, column, place });
}

/** A condition with an operand. */
interface Comparison {
  readonly operator: unknown;
  readonly operand: unknown;
  readonly column: Column;
  readonly place: FieldPath;
}

function parseTyped(comparison: Comparison): Condition | null {
  const { type } = comparison.column;
  switch (type) {
    case "number":
      return parseNumber(comparison);
    case "date":
      return comparison.operator === "between" ? parsePeriod(comparison) : parseDate(comparison);
    case "boolean":
      return parseBoolean(comparison);
    case "json":
      return parseJson(comparison);
    case "text":
    case "select":
    case "url":
    case "email":
      return parseText(comparison);
  }
}

function parseText(comparison: Comparison): Condition | null {
  const { operand } = comparison;
  const operator = operatorOf(comparison, TEXT_OPERATORS);
  if (typeof operand !== "string") return refuse(comparison, "must be a string");
  return operator && { on: "text", operator, value: operand };
}

/**
 * Any value is compared as text. A missing operand is reported, since nothing could be compared with it.
 */
function parseJson(comparison: Comparison): Condition | null {
  const { operand } = comparison;
  const operator = operatorOf(comparison, JSON_OPERATORS);
  if (operand === undefined || operand === null) {
    return refuse(comparison, "must be a value other than null; is_empty finds blanks");
  }
  return operator && { on: "text", operator, value: textOf(operand) };
}

function parseNumber(comparison: Comparison): Condition | null {
  const { operand } = comparison;
  const operator = operatorOf(comparison, ORDER_OPERATORS);
  if (typeof operand !== "number") return refuse(comparison, "must be a number");
  return operator && { on: "number", operator, value: operand };
}

function parseBoolean(comparison: Comparison): Condition | null {
  const { operand } = comparison;
  const operator = operatorOf(comparison, EQUALITY_OPERATORS);
  if (typeof operand !== "boolean") return refuse(comparison, "must be true or false");
  return operator && { on: "boolean", operator, value: operand };
}

const DAY = "a day that exists, of the form YYYY-MM-DD";

function parseDate(comparison: Comparison): Condition | null {
  const { operand } = comparison;
  const operator = operatorOf(comparison, [...ORDER_OPERATORS], ["between"]);
  if (!isDay(operand)) return refuse(comparison, `must be ${DAY}`);
  return operator && { on: "date", operator, value: operand };
}

function parsePeriod({ operand, place: conditionPlace }: Comparison): Condition | null {
  const place = conditionPlace.at("value");
  if (!isJsonObject(operand)) {
    place.report("must be an object with start and end");
    return null;
  }
  for (const name of Object.keys(operand)) {
    if (name !== "start" && name !== "end") {
      place.at(name).report("is not known; a period has start and end");
    }
  }
  const { start, end } = operand;
  if (!isDay(start)) place.at("start").report(`must be ${DAY}`);
  if (!isDay(end)) place.at("end").report(`must be ${DAY}`);
  if (!isDay(start) || !isDay(end)) return null;
  if (start > end) place.report("must have a start that is not after its end");
  return { on: "date", operator: "between", start, end };
}

/**
 * The operator, if the column's type has it. Another operator is reported together with the valid ones.
 */
function operatorOf<const Operator extends string>(
  { operator, column, place }: Comparison,
  operators: readonly Operator[],
  others: readonly string[] = [],
): Operator | null {
  if (isOneOf(operators, operator)) return operator;
  const allowed = [...operators, ...others, ...BLANK_OPERATORS].join(", ");
  place.at("operator").report(`must be one of ${allowed} for a column of type ${column.type}`);
  return null;
}

function refuse({ operand, place }: Comparison, message: string): null {
  place.at("value").report(operand === undefined ? `is required and ${message}` : message);
  return null;
}

function isDay(value: unknown): value is string {
  return typeof value === "string" && isCalendarDay(value);
}

function isOneOf<const Item extends string>(items: readonly Item[], value: unknown): value is Item {
  return items.some((item) => item === value);
}
