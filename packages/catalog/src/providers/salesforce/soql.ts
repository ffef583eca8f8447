import { writeConditions } from "../../query-conditions.ts";
import type { QueryLiterals } from "../../query-conditions.ts";

/** https://developer.salesforce.com/docs/atlas.en-us.soql_sosl.meta/soql_sosl/sforce_api_calls_soql_select_comparisonoperators.htm */
export const SOQL_OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "LIKE", "IN", "NOT IN"] as const;

/** A date, a time with its zone, or a word such as LAST_N_DAYS:30; none of them is quoted. */
const DATE =
  /^(\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d))?|[A-Z][A-Z_]{2,40}(:\d{1,4})?)$/;

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

const literals: QueryLiterals = {
  text: (value) => `'${value.replaceAll(/[\\'\n\r\t\b\f]/g, (found) => ESCAPES[found] ?? "")}'`,
  number: String,
  boolean: String,
  nulls: "=",
  date: (value) => (DATE.test(value) ? value : null),
};

/** The parts of a query. Schemas have checked the names. */
export interface SoqlSelection {
  sobject: string;
  fields: readonly string[];
  where: unknown;
  orderBy: string | undefined;
  direction: string | undefined;
  limit: number;
}

/**
 * Builds a SOQL query.
 *
 * @throws InvalidInputError
 */
export function writeSoql(selection: SoqlSelection): string {
  const { sobject, fields, where, orderBy, direction = "ASC", limit } = selection;
  const conditions = writeConditions(where, literals);
  return [
    `SELECT ${fields.join(", ")} FROM ${sobject}`,
    ...(conditions === "" ? [] : [`WHERE ${conditions}`]),
    ...(orderBy === undefined ? [] : [`ORDER BY ${orderBy} ${direction}`]),
    `LIMIT ${limit}`,
  ].join(" ");
}
