import { z } from "zod";
import { list, text } from "./action-input.ts";
import type { ActionInput } from "./action-input.ts";
import { InvalidInputError } from "./invalid-input-error.ts";

/** A query language's notation of condition values, which quotes texts. */
export interface QueryLiterals {
  text: (value: string) => string;
  number: (value: number) => string;
  boolean: (value: boolean) => string;
  /** Writes a date; null when the text is none. */
  date: (value: string) => string | null;
  /** The comparison of a field with null: `= null` or `IS NULL`; absent where the language has none. */
  nulls?: "=" | "IS" | undefined;
}

/** `Name`, `Owner.Name`: the only texts that may stand unquoted in a built query. */
const FIELD = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$/;

/** The name of a field, in a form that may stand in a query's text. */
export const fieldPath = z.string().max(255).regex(FIELD, "must be the name of a field");

const condition = z.strictObject({
  field: fieldPath,
  operator: z.string(),
  value: z.union(
    [
      z.string(),
      z.number(),
      z.boolean(),
      z.null(),
      z
        .array(z.union([z.string(), z.number()]))
        .min(1)
        .max(500),
    ],
    "must be a text, a number, true, false, null, or a list of 1 to 500 texts and numbers",
  ),
  type: z.literal("date").optional(),
});

type Condition = z.infer<typeof condition>;

/** A present text; an empty text counts as missing. */
export function givenText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The name of a field. */
export function fieldInput(key: string, traits: Parameters<typeof text>[1] = {}): ActionInput {
  return text(key, { in: "none", ...traits, schema: fieldPath });
}

/** The names of fields to read. */
export function fieldsInput(key: string, traits: Parameters<typeof list>[1] = {}): ActionInput {
  return list(key, { in: "none", ...traits, of: fieldPath });
}

/**
 * The conditions of a query, as data: a template gives a value, never a part of the query. All conditions
 * must hold.
 */
export function whereInput(operators: readonly string[]): ActionInput {
  const of = condition
    .extend({ operator: z.enum(operators) })
    .refine(({ operator, value }) => isList(operator) === Array.isArray(value), {
      path: ["value"],
      message: "must be a list for IN, and else a single value",
    });
  return list("where", {
    title: "Conditions",
    description: `{field, operator, value} each; operators: ${operators.join(", ")}; type "date" for dates`,
    of,
    in: "none",
  });
}

/**
 * The text behind WHERE; empty without conditions.
 *
 * @throws InvalidInputError for an invalid date
 */
export function writeConditions(where: unknown, literals: QueryLiterals): string {
  const parsed = z.array(condition).safeParse(where ?? []);
  if (!parsed.success) throw new InvalidInputError("where", "must be a list of conditions");
  return parsed.data.map((one) => writeCondition(one, literals)).join(" AND ");
}

function writeCondition({ field, operator, value, type }: Condition, literals: QueryLiterals) {
  if (value === null) return writeNull(field, operator, literals);
  const write = (one: string | number | boolean): string => {
    if (typeof one === "boolean") return literals.boolean(one);
    if (typeof one === "number") return literals.number(one);
    if (type !== "date") return literals.text(one);
    const date = literals.date(one);
    if (date === null) throw new InvalidInputError("where", `has no date for ${field}`);
    return date;
  };
  const right = Array.isArray(value) ? `(${value.map(write).join(", ")})` : write(value);
  return `${field} ${operator} ${right}`;
}

function writeNull(field: string, operator: string, { nulls }: QueryLiterals): string {
  if (nulls === undefined || (operator !== "=" && operator !== "!=")) {
    throw new InvalidInputError("where", `can't compare ${field} with null by ${operator}`);
  }
  if (nulls === "=") return `${field} ${operator} null`;
  return `${field} IS ${operator === "=" ? "" : "NOT "}NULL`;
}

function isList(operator: string): boolean {
  return operator === "IN" || operator === "NOT IN";
}
