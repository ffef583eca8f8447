import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import type { Column } from "../../src/domain/column.ts";

/** A table as the oracle sees it. */
export interface OracleTable {
  readonly columns: readonly Column[];
  /** By position. */
  readonly rows: readonly OracleRow[];
}

/** A row; its data is what `JSON.parse` returned. */
export interface OracleRow {
  readonly position: number;
  readonly data: JsonObject;
}

/** Of longer texts the order looks at the beginning only, and they are no groups. */
const KEPT_CHARS_MAX = 2_000;

/**
 * The rows that pass a filter, which is read as callers write it and believed to be valid. Here and
 * below: the contract's rules one value at a time, with nothing that the service is made of.
 */
export function matchingRows({ columns, rows }: OracleTable, filter: JsonObject): OracleRow[] {
  return rows.filter((row) => matches(columns, filter, row));
}

function matches(columns: readonly Column[], filter: JsonObject, row: OracleRow): boolean {
  return Object.entries(filter).every(([key, clause]) => {
    if (key === "any" && Array.isArray(clause)) {
      return clause.some((each) => isJsonObject(each) && matches(columns, each, row));
    }
    const value = valueOf(row, key);
    if (!isJsonObject(clause)) return !isBlank(value) && includes(textOf(value), textOf(clause));
    const column = columns.find(({ id }) => id === key);
    if (column === undefined) throw new Error(`no column ${key}`);
    const { condition, values, excludedValues } = clause;
    return (
      (!isJsonObject(condition) || meets(column, condition, value)) &&
      (!Array.isArray(values) || values.some((each) => isSame(each, value))) &&
      (!Array.isArray(excludedValues) || !excludedValues.some((each) => isSame(each, value)))
    );
  });
}

function meets(column: Column, { operator, value: operand }: JsonObject, value: unknown): boolean {
  if (operator === "is_empty") return isBlank(value);
  if (operator === "is_not_empty") return !isBlank(value);
  if (operator === "not_equals")
    return !meets(column, { operator: "equals", value: operand }, value);
  if (operator === "not_contains") {
    return !meets(column, { operator: "contains", value: operand }, value);
  }
  if (!fits(column, value)) return false;
  switch (column.type) {
    case "number":
    case "date":
    case "boolean":
      return meetsOrder(operator, value, operand);
    default:
      return meetsText(operator, fold(textOf(value)), fold(textOf(operand)));
  }
}

function meetsOrder(operator: unknown, value: unknown, operand: unknown): boolean {
  if (operator === "between") {
    if (!isJsonObject(operand)) throw new Error("between takes start and end");
    return order(value, operand["start"]) >= 0 && order(value, operand["end"]) <= 0;
  }
  const difference = order(value, operand);
  switch (operator) {
    case "equals":
      return difference === 0;
    case "greater_than":
      return difference > 0;
    case "greater_than_or_equal":
      return difference >= 0;
    case "less_than":
      return difference < 0;
    case "less_than_or_equal":
      return difference <= 0;
    default:
      throw new Error(`no operator ${String(operator)}`);
  }
}

function meetsText(operator: unknown, text: string, operand: string): boolean {
  switch (operator) {
    case "contains":
      return text.includes(operand);
    case "equals":
      return text === operand;
    case "starts_with":
      return text.startsWith(operand);
    case "ends_with":
      return text.endsWith(operand);
    default:
      throw new Error(`no operator ${String(operator)}`);
  }
}

/** The filter as if it said nothing of a column. */
export function without(filter: JsonObject, columnId: string): JsonObject {
  return Object.fromEntries(
    Object.entries(filter).flatMap(([key, clause]): [string, unknown][] => {
      if (key === "any" && Array.isArray(clause)) {
        return [[key, clause.map((each) => (isJsonObject(each) ? without(each, columnId) : each))]];
      }
      return key === columnId ? [] : [[key, clause]];
    }),
  );
}

/** Blanks come last and values that do not fit before them, whichever way the column is sorted. */
export function compareIn(column: Column, a: unknown, b: unknown, descending: boolean): number {
  const rank = (value: unknown) => (isBlank(value) ? 2 : fits(column, value) ? 0 : 1);
  if (rank(a) !== rank(b) || rank(a) > 0) return rank(a) - rank(b);
  return descending ? compareFitting(column, b, a) : compareFitting(column, a, b);
}

export function compareFitting(column: Column, a: unknown, b: unknown): number {
  switch (column.type) {
    case "number":
    case "date":
    case "boolean":
      return order(a, b);
    case "select": {
      const place = (value: unknown) => {
        const options = column.options ?? [];
        const index = options.findIndex((option) => beginningOf(option) === beginningOf(value));
        return index === -1 ? Infinity : index;
      };
      return place(a) === place(b) ? compareTexts(a, b) : place(a) - place(b);
    }
    default:
      return compareTexts(a, b);
  }
}

const collator = new Intl.Collator("en", { sensitivity: "accent" });

function compareTexts(a: unknown, b: unknown): number {
  const left = beginningOf(a);
  const right = beginningOf(b);
  return collator.compare(left, right) || order(left, right);
}

function beginningOf(value: unknown): string {
  return textOf(value).slice(0, KEPT_CHARS_MAX);
}

export function isLong(value: unknown): boolean {
  return textOf(value).length > KEPT_CHARS_MAX;
}

/** Numbers, booleans, or texts by their code units. */
function order(a: unknown, b: unknown): number {
  const [left, right] = [a, b].map((value) => (typeof value === "boolean" ? Number(value) : value));
  if (typeof left === "number" && typeof right === "number") {
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof left === "string" && typeof right === "string") {
    return left < right ? -1 : left > right ? 1 : 0;
  }
  throw new Error("values of different types have no order");
}

/** Whether a value is one of its column's type; no blank is. */
export function fits({ type }: Column, value: unknown): boolean {
  if (isBlank(value)) return false;
  switch (type) {
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "date":
      return typeof value === "string" && isDay(value);
    case "json":
      return true;
    default:
      return typeof value === "string";
  }
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith("0000")) return false;
  const moment = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
}

/** The same JSON value; blanks are the same as each other. */
function isSame(a: unknown, b: unknown): boolean {
  if (isBlank(a) || isBlank(b)) return isBlank(a) && isBlank(b);
  return isSameRaw(a, b);
}

function isSameRaw(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSameRaw(item, b[index]));
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && isSameRaw(a[key], b[key]))
    );
  }
  return a === b;
}

export function includes(text: string, part: string): boolean {
  return fold(text).includes(fold(part));
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll("ς", "σ");
}

/** Strings as they are, all else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : jsonOf(value);
}

/** JSON with the members of objects in the order of their keys. */
export function jsonOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonOf).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => order(a, b));
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${jsonOf(item)}`).join()}}`;
}

export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

export function valueOf({ data }: OracleRow, key: string): unknown {
  return Object.hasOwn(data, key) ? data[key] : undefined;
}

export function columnOf({ columns }: OracleTable, id: string): Column {
  const column = columns.find((each) => each.id === id);
  if (column === undefined) throw new Error(`no column ${id}`);
  return column;
}
