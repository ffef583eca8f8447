import { invalidRequest } from "@workflow/errors";
import { isJsonObject, parseJsonText } from "@workflow/json";
import { canonicalJson } from "./canonical-json.ts";
import { isBlank, textOf } from "./cell-text.ts";
import type { Column } from "./column.ts";
import { FILTER_LIMITS } from "./filter-limits.ts";
import { reportLostNumbers } from "./json-numbers.ts";
import { parseCondition } from "./parse-condition.ts";
import { Problems } from "./problems.ts";
import type { FieldPath } from "./problems.ts";
import type { ColumnClause, Filter, SubstringClause, ValueList } from "./row-query.ts";

/**
 * The kinds of filters. `structured` has clauses for declared columns. `legacyRows` also has scalars, for any key.
 * `legacyDistinct` also has scalars, for declared columns.
 */
export type FilterMode = "structured" | "legacyRows" | "legacyDistinct";

const UNKNOWN_COLUMN = "is no column that the table declares";

/**
 * Reads the JSON text of a filter. Every row passes an empty text. The result leaves out what restricts nothing: a
 * clause without condition and list, and an `any` group with a filter that every row passes.
 * @throws AppError BAD_REQUEST with up to 50 violations, whose paths begin with `filter`
 */
export function parseFilter(text: string, columns: readonly Column[], mode: FilterMode): Filter {
  if (text === "") return [];
  const parsed = parseJsonText(text, "object");
  if (!parsed.ok) throw invalidRequest([{ path: ["filter"], message: parsed.message }]);
  const problems = new Problems();
  const place = problems.at("filter");
  if (JSON.stringify(parsed.value).length > FILTER_LIMITS.chars) {
    place.report(`must have at most ${FILTER_LIMITS.chars} characters as JSON`);
    problems.throwIfAny();
  }
  reportLostNumbers(text, parsed.value, place);
  const parsing: Parsing = {
    columns: new Map(columns.map((column) => [column.id, column])),
    mode,
    counts: { columns: 0, exactValues: 0, anyFilters: 0 },
  };
  const filter = parseClauses(parsed.value, place, parsing, 0);
  reportCounts(parsing.counts, place);
  problems.throwIfAny();
  return filter;
}

/** The values that stay the same, or are summed up, over a whole filter. */
interface Parsing {
  readonly columns: ReadonlyMap<string, Column>;
  readonly mode: FilterMode;
  readonly counts: { columns: number; exactValues: number; anyFilters: number };
}

/** @param depth the number of `any` groups around */
function parseClauses(value: unknown, place: FieldPath, parsing: Parsing, depth: number): Filter {
  if (!isJsonObject(value)) {
    place.report("must be an object whose keys are column ids");
    return [];
  }
  return Object.entries(value).flatMap(([key, clause]) =>
    key === "any" && Array.isArray(clause)
      ? parseAny(clause, place.at(key), parsing, depth + 1)
      : parseEntry({ key, clause }, place.at(key), parsing),
  );
}

function parseAny(
  filters: readonly unknown[],
  place: FieldPath,
  parsing: Parsing,
  depth: number,
): Filter {
  if (depth > FILTER_LIMITS.anyDepth) {
    place.report(`must not stand inside of ${FILTER_LIMITS.anyDepth} other any groups`);
    return [];
  }
  parsing.counts.anyFilters += filters.length;
  const parsed = filters.map((filter, index) =>
    parseClauses(filter, place.at(String(index)), parsing, depth),
  );
  return parsed.some((filter) => filter.length === 0) ? [] : [{ kind: "any", filters: parsed }];
}

/** One member of a filter. */
interface Entry {
  readonly key: string;
  readonly clause: unknown;
}

function parseEntry(entry: Entry, place: FieldPath, parsing: Parsing): Filter {
  const { key, clause } = entry;
  parsing.counts.columns += 1;
  const mayBeScalar = parsing.mode !== "structured";
  if (mayBeScalar && isScalar(clause)) return parseScalar(entry, place, parsing);
  const column = parsing.columns.get(key);
  if (column === undefined) place.report(UNKNOWN_COLUMN);
  if (!isJsonObject(clause)) {
    const scalars = mayBeScalar ? "a string, a number, a boolean or " : "";
    place.report(`must be ${scalars}an object with condition, values or excludedValues`);
    return [];
  }
  return column === undefined ? [] : parseColumnClause(clause, column, place, parsing);
}

/** The older form of a clause: a part of the text of a key, which may be undeclared. */
function parseScalar(
  { key, clause }: Entry,
  place: FieldPath,
  parsing: Parsing,
): SubstringClause[] {
  if (key === "") place.report("must have a key that is not empty");
  else if (parsing.mode === "legacyDistinct" && !parsing.columns.has(key)) {
    place.report(UNKNOWN_COLUMN);
  }
  reportOperandLength(clause, place);
  return [{ kind: "substring", key, text: textOf(clause) }];
}

const CLAUSE_MEMBERS = ["condition", "values", "excludedValues"];

function parseColumnClause(
  clause: Readonly<Record<string, unknown>>,
  column: Column,
  place: FieldPath,
  parsing: Parsing,
): ColumnClause[] {
  for (const name of Object.keys(clause)) {
    // A misspelt member is reported. If it were ignored, every row would pass.
    if (!CLAUSE_MEMBERS.includes(name)) {
      place.at(name).report("is not known; a clause has condition, values or excludedValues");
    }
  }
  const { condition, values, excludedValues } = clause;
  if (values !== undefined && excludedValues !== undefined) {
    place.report("must not have both values and excludedValues");
  }
  if (condition !== undefined) reportOperandLength(condition, place.at("condition"));
  const parsedCondition =
    condition === undefined ? null : parseCondition(condition, column, place.at("condition"));
  const list =
    values === undefined
      ? parseList(excludedValues, true, place.at("excludedValues"), parsing)
      : parseList(values, false, place.at("values"), parsing);
  if (parsedCondition === null && list === null) return [];
  return [
    {
      kind: "column",
      column,
      ...(parsedCondition === null ? {} : { condition: parsedCondition }),
      ...(list === null ? {} : { list }),
    },
  ];
}

function parseList(
  items: unknown,
  excluded: boolean,
  place: FieldPath,
  parsing: Parsing,
): ValueList | null {
  if (items === undefined) return null;
  if (!Array.isArray(items)) {
    place.report("must be an array of values; null in it stands for blanks");
    return null;
  }
  parsing.counts.exactValues += items.length;
  if (items.length > FILTER_LIMITS.listValues) {
    place.report(`must have at most ${FILTER_LIMITS.listValues} values`);
  }
  for (const [index, item] of items.entries()) reportOperandLength(item, place.at(String(index)));
  const filled = items.filter((item) => !isBlank(item));
  return {
    excluded,
    values: new Set(filled.map(canonicalJson)),
    blanks: filled.length < items.length,
  };
}

function reportCounts(counts: Parsing["counts"], place: FieldPath): void {
  const { columns, exactValues, anyFilters } = FILTER_LIMITS;
  if (counts.columns > columns) {
    place.report(`must have at most ${columns} clauses on columns, not ${counts.columns}`);
  }
  if (counts.exactValues > exactValues) {
    place.report(`must list at most ${exactValues} values in all, not ${counts.exactValues}`);
  }
  if (counts.anyFilters > anyFilters) {
    place.at("any").report(`must hold at most ${anyFilters} filters, not ${counts.anyFilters}`);
  }
}

function reportOperandLength(operand: unknown, place: FieldPath): void {
  if (JSON.stringify(operand).length > FILTER_LIMITS.operandChars) {
    place.report(`must have at most ${FILTER_LIMITS.operandChars} characters as JSON`);
  }
}

function isScalar(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
