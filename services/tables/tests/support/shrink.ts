import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import type { Column } from "../../src/domain/column.ts";
import type { RandomQuery } from "./random-query.ts";

/** A question about a table of certain rows. */
export interface Case {
  readonly columns: readonly Column[];
  readonly data: readonly JsonObject[];
  readonly query: RandomQuery;
}

/** So many smaller cases are tried. */
const TRIES_MAX = 2_000;

/** The case without what it fails without, too; null when it does not fail as it stands. */
export function shrink(failing: Case, fails: (candidate: Case) => boolean): Case | null {
  if (!fails(failing)) return null;
  let smallest = failing;
  let tries = 0;
  for (;;) {
    const smaller = smallerCases(smallest).find((each) => (tries += 1) > TRIES_MAX || fails(each));
    if (smaller === undefined || tries > TRIES_MAX) return smallest;
    smallest = smaller;
  }
}

function* smallerCases(current: Case): Generator<Case, undefined> {
  const { data, query, columns } = current;
  for (let size = data.length >> 1; size > 0; size >>= 1) {
    for (let from = 0; from < data.length; from += size) {
      yield { ...current, data: data.toSpliced(from, size) };
    }
  }
  for (const filter of smallerFilters(query.filter))
    yield { ...current, query: { ...query, filter } };
  if (query.kind === "rows") {
    if (query.sort !== null) yield { ...current, query: { ...query, sort: null } };
    if (query.descending) yield { ...current, query: { ...query, descending: false } };
    if (query.offset > 0) yield { ...current, query: { ...query, offset: 0 } };
    if (query.limit < 100) yield { ...current, query: { ...query, limit: 100 } };
  }
  if (query.kind === "distinct" && query.search !== "") {
    yield { ...current, query: { ...query, search: "" } };
  }
  if (query.kind === "aggregate" && query.measures.length > 1) {
    for (const measure of query.measures) {
      yield { ...current, query: { ...query, measures: [measure] } };
    }
  }
  for (const [index, each] of data.entries()) {
    for (const key of Object.keys(each)) {
      yield { ...current, columns, data: data.with(index, withoutKey(each, key)) };
    }
  }
  return undefined;
}

function* smallerFilters(filter: JsonObject): Generator<JsonObject> {
  for (const key of Object.keys(filter)) yield withoutKey(filter, key);
  for (const [key, clause] of Object.entries(filter)) {
    if (Array.isArray(clause)) {
      for (const [index, each] of clause.entries()) {
        yield { ...filter, [key]: clause.toSpliced(index, 1) };
        if (!isJsonObject(each)) continue;
        for (const smaller of smallerFilters(each)) {
          yield { ...filter, [key]: clause.with(index, smaller) };
        }
      }
    } else if (isJsonObject(clause)) {
      for (const member of Object.keys(clause)) {
        yield { ...filter, [key]: withoutKey(clause, member) };
      }
    }
  }
}

function withoutKey(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([each]) => each !== key));
}
