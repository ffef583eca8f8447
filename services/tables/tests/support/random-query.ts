import type { JsonObject } from "@workflow/json";
import type { Column, ColumnType } from "../../src/domain/column.ts";
import type { AggregateQuery, DistinctQuery, RowsQuery } from "./oracle.ts";
import {
  randomDay,
  randomFitting,
  randomNumber,
  randomText,
  randomValue,
} from "./random-values.ts";
import type { Random } from "./random-values.ts";

/** A question about a table. A legacy one may have scalars in its filter. */
export type RandomQuery =
  | ({ kind: "rows"; legacy: boolean } & RowsQuery)
  | ({ kind: "distinct"; legacy: boolean } & DistinctQuery)
  | ({ kind: "aggregate" } & AggregateQuery);

/** A table to ask about: values that it has make better questions than others. */
export interface Asked {
  readonly columns: readonly Column[];
  readonly values: readonly JsonObject[];
}

export function randomQuery(random: Random, asked: Asked): RandomQuery {
  const { columns } = asked;
  const kind = random.pick(["rows", "rows", "rows", "distinct", "aggregate"] as const);
  const legacy = kind !== "aggregate" && random.chance(0.2);
  const scalars = !legacy ? "none" : kind === "rows" ? "any" : "declared";
  const filter = randomFilter(random, asked, scalars, { depth: 0, clauses: { left: 20 } });
  switch (kind) {
    case "rows":
      return {
        kind,
        legacy,
        filter,
        sort: random.chance(0.7) ? random.pick(columns).id : null,
        descending: random.chance(0.4),
        limit: random.pick([1, 2, 3, 5, 10, 50, 100]),
        offset: random.pick([0, 0, 0, 1, 2, 5, 20, 100]),
      };
    case "distinct":
      return {
        kind,
        legacy,
        filter,
        columnId: random.pick(columns).id,
        search: random.chance(0.6) ? "" : randomSearch(random, asked),
        limit: random.pick([1, 2, 5, 100, 500]),
      };
    case "aggregate":
      return {
        kind,
        filter,
        groupBy: random.chance(0.6) ? random.pick(columns).id : null,
        measures: Array.from({ length: 1 + random.below(3) }, () => randomMeasure(random, columns)),
      };
  }
}

function randomSearch(random: Random, asked: Asked): string {
  const known = valueFrom(random, random.pick(asked.columns), asked);
  const text = typeof known === "string" ? known : randomText(random);
  const search = randomPart(random, text).slice(0, 100);
  return search.isWellFormed() ? search : "needle";
}

/** Whether and where a filter may hold scalars. */
type Scalars = "none" | "declared" | "any";

/** How much a filter may still hold. */
interface Bounds {
  readonly depth: number;
  /** Of the whole filter. */
  readonly clauses: { left: number };
}

function randomFilter(
  random: Random,
  asked: Asked,
  scalars: Scalars,
  { depth, clauses }: Bounds,
): JsonObject {
  const entries: [string, unknown][] = [];
  const count = Math.min(random.pick([0, 1, 1, 1, 2, 3]), clauses.left);
  clauses.left -= count;
  for (let index = 0; index < count; index += 1) {
    if (scalars === "any" && random.chance(0.2)) {
      entries.push([random.pick(["ghost", "valueOf", "1"]), randomScalar(random)]);
    } else {
      const column = random.pick(asked.columns);
      entries.push([column.id, randomEntry(random, column, asked, scalars)]);
    }
  }
  if (depth < 3 && random.chance(0.12)) {
    const filters = Array.from({ length: random.below(4) }, () =>
      randomFilter(random, asked, scalars, { depth: depth + 1, clauses }),
    );
    entries.push(["any", filters]);
  }
  return Object.fromEntries(entries);
}

function randomEntry(random: Random, column: Column, asked: Asked, scalars: Scalars): unknown {
  if (scalars !== "none" && random.chance(0.6)) return randomScalar(random);
  return randomClause(random, column, asked);
}

function randomScalar(random: Random): unknown {
  const text = short(randomPart(random, randomText(random)));
  return random.pick([text, text, randomNumber(random), random.chance(0.5)]);
}

function randomClause(random: Random, column: Column, asked: Asked): JsonObject {
  const clause: Record<string, unknown> = {};
  if (random.chance(0.75)) clause["condition"] = randomCondition(random, column, asked);
  if (random.chance(0.35)) {
    const items = Array.from({ length: random.below(5) }, () =>
      random.chance(0.15) ? random.pick([null, ""]) : valueFrom(random, column, asked),
    );
    clause[random.pick(["values", "excludedValues"])] = items.filter(isShort);
  }
  return clause;
}

const TEXT = ["contains", "not_contains", "equals", "not_equals", "starts_with", "ends_with"];
const ORDER = [
  ["equals", "not_equals", "greater_than", "greater_than_or_equal"],
  ["less_than", "less_than_or_equal"],
].flat();
const OPERATORS: Readonly<Record<ColumnType, readonly string[]>> = {
  text: TEXT,
  email: TEXT,
  url: TEXT,
  select: TEXT,
  json: TEXT.slice(0, 4),
  number: ORDER,
  date: [...ORDER, "between"],
  boolean: ORDER.slice(0, 2),
};

function randomCondition(random: Random, column: Column, asked: Asked): JsonObject {
  if (random.chance(0.15)) return { operator: random.pick(["is_empty", "is_not_empty"]) };
  const operator = random.pick(OPERATORS[column.type]);
  return { operator, value: randomOperand(random, operator, column, asked) };
}

function randomOperand(random: Random, operator: string, column: Column, asked: Asked): unknown {
  const known = random.chance(0.75) ? valueFrom(random, column, asked) : undefined;
  switch (column.type) {
    case "number":
      return typeof known === "number" ? known : randomNumber(random);
    case "boolean":
      return random.chance(0.5);
    case "date": {
      const days = [randomDay(random), randomDay(random)].toSorted();
      return operator === "between" ? { start: days[0], end: days[1] } : days[0];
    }
    case "json": {
      const value = known ?? randomFitting(random, column);
      if (typeof value !== "string") return isShort(value) && value !== null ? value : 5;
      return short(randomPart(random, value));
    }
    default: {
      const text = typeof known === "string" ? known : randomText(random);
      return short(randomCase(random, randomPart(random, text)));
    }
  }
}

/** A value that the table has in this column, or could have. */
function valueFrom(random: Random, column: Column, { values }: Asked): unknown {
  if (values.length === 0 || random.chance(0.3)) return randomValue(random, column);
  const data = random.pick(values);
  return Object.hasOwn(data, column.id) ? data[column.id] : null;
}

function randomPart(random: Random, text: string): string {
  if (random.chance(0.5)) return text;
  const from = random.below(text.length + 1);
  const part = text.slice(from, from + 1 + random.below(4));
  return part.isWellFormed() ? part : text;
}

function randomCase(random: Random, text: string): string {
  // One unit that folds to two: the operand is shorter than the value it is equal to.
  const shorter = text.replaceAll("i\u0307", "\u0130");
  const changed = random.pick([text, text.toUpperCase(), text.toLowerCase(), shorter]);
  return isShort(changed) ? changed : text;
}

function randomMeasure(random: Random, columns: readonly Column[]): AggregateQuery["measures"][0] {
  const numbers = columns.filter(({ type }) => type === "number");
  const ordered = columns.filter(({ type }) => type === "number" || type === "date");
  const name = random.pick(["count", "sum", "avg", "min", "max"] as const);
  if (name === "count") {
    return { function: name, column: random.chance(0.5) ? random.pick(columns).id : null };
  }
  const choice = name === "min" || name === "max" ? ordered : numbers;
  if (choice.length === 0) return { function: "count", column: null };
  return { function: name, column: random.pick(choice).id };
}

/** Operands and listed values have a limit of 2,000 characters as JSON. */
function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= 1_950;
}

function short(text: string): string {
  return isShort(text) ? text : "needle";
}
