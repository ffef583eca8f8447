import { isCalendarDay } from "../domain/calendar-day.ts";
import { canonicalJson } from "../domain/canonical-json.ts";
import { isBlank, textOf } from "../domain/cell-text.ts";
import type { Column } from "../domain/column.ts";
import { fold } from "../domain/fold.ts";
import type { ColumnClause, Condition, SubstringClause, ValueList } from "../domain/row-query.ts";
import { KEPT_UNITS } from "./stored-value.ts";

/** Whether the kept beginning of a long value may be too short to decide a clause. */
export function needsWholeValue(clause: ColumnClause | SubstringClause): boolean {
  if (clause.kind === "substring") return true;
  const { condition } = clause;
  if (condition?.on !== "text") return false;
  switch (condition.operator) {
    case "contains":
    case "not_contains":
    case "ends_with":
      return true;
    case "equals":
    case "not_equals":
    case "starts_with":
      // The letter İ folds to two units, so a short operand may match a text longer than the kept part.
      return fold(condition.value).length > KEPT_UNITS;
  }
}

/** Whether one value, in the form that `JSON.parse` returns, meets a clause. */
export function matchesValue(clause: ColumnClause | SubstringClause, value: unknown): boolean {
  if (clause.kind === "substring") {
    return !isBlank(value) && fold(textOf(value)).includes(fold(clause.text));
  }
  const { column, condition, list } = clause;
  return (
    (condition === undefined || meetsCondition(condition, column, value)) &&
    (list === undefined || isInList(list, value))
  );
}

function isInList({ excluded, values, blanks }: ValueList, value: unknown): boolean {
  const listed = isBlank(value) ? blanks : values.has(canonicalJson(value));
  return listed !== excluded;
}

function meetsCondition(condition: Condition, column: Column, value: unknown): boolean {
  if (condition.on === "blank") return isBlank(value) === (condition.operator === "is_empty");
  if (!isBlank(value)) {
    if (condition.on === "text" && isTextOf(column, value)) {
      return meetsText(condition, fold(textOf(value)));
    }
    if (condition.on === "number" && typeof value === "number") {
      return meetsOrder(condition.operator, value, condition.value);
    }
    if (condition.on === "date" && typeof value === "string" && isCalendarDay(value)) {
      return condition.operator === "between"
        ? condition.start <= value && value <= condition.end
        : meetsOrder(condition.operator, value, condition.value);
    }
    if (condition.on === "boolean" && typeof value === "boolean") {
      return meetsOrder(condition.operator, value, condition.value);
    }
  }
  // Blanks and mistyped values pass only the negated operators (D34).
  return condition.operator === "not_equals" || condition.operator === "not_contains";
}

function isTextOf(column: Column, value: unknown): boolean {
  return column.type === "json" || typeof value === "string";
}

function meetsText(condition: Extract<Condition, { on: "text" }>, folded: string): boolean {
  const operand = fold(condition.value);
  switch (condition.operator) {
    case "contains":
      return folded.includes(operand);
    case "not_contains":
      return !folded.includes(operand);
    case "equals":
      return folded === operand;
    case "not_equals":
      return folded !== operand;
    case "starts_with":
      return folded.startsWith(operand);
    case "ends_with":
      return folded.endsWith(operand);
  }
}

type OrderOperator = Extract<Condition, { on: "number" }>["operator"];

function meetsOrder<Value extends number | string | boolean>(
  operator: OrderOperator,
  value: Value,
  operand: Value,
): boolean {
  switch (operator) {
    case "equals":
      return value === operand;
    case "not_equals":
      return value !== operand;
    case "greater_than":
      return value > operand;
    case "greater_than_or_equal":
      return value >= operand;
    case "less_than":
      return value < operand;
    case "less_than_or_equal":
      return value <= operand;
  }
}
