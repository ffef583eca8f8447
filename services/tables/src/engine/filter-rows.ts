import type { AnyClause, ColumnClause, Filter, SubstringClause } from "../domain/row-query.ts";
import { needsWholeValue } from "./match-value.ts";
import { liveMask, subtract, unite } from "./mask.ts";
import type { Mask } from "./mask.ts";
import type { RowSource } from "./row-source.ts";
import type { Steps } from "./steps.ts";
import { TextVector } from "./text-vector.ts";
import type { Vector } from "./vector.ts";

/** The live rows that pass a filter. Null stands for all rows, with none of them deleted. */
export function* filterInSteps(source: RowSource, filter: Filter): Steps<Mask | null> {
  if (filter.length === 0 && source.liveCount === source.size) return null;
  const mask = liveMask(source);
  yield* narrowToFilter(source, filter, mask);
  return mask;
}

type Clause = Filter[number];

/** Cheap clauses come first, so clauses that search texts examine only the remaining rows. */
function* narrowToFilter(source: RowSource, filter: Filter, mask: Mask): Steps {
  const clauses = filter.map((clause) => ({ clause, cost: costOf(source, clause) }));
  for (const { clause } of clauses.toSorted((a, b) => a.cost - b.cost)) {
    if (!mask.includes(1)) return;
    if (clause.kind === "any") yield* narrowToAny(source, clause, mask);
    else yield* narrowToClause(source, clause, mask);
  }
}

function costOf(source: RowSource, clause: Clause): number {
  if (clause.kind === "any") return ANY_COST;
  const vector = vectorOf(source, clause);
  if (!(vector instanceof TextVector) || !vector.isSpelledOut) return 0;
  return clause.kind === "column" && clause.condition?.on === "blank" ? 0 : SEARCH_COST;
}

const SEARCH_COST = 1;
const ANY_COST = 2;

function* narrowToAny(source: RowSource, { filters }: AnyClause, mask: Mask): Steps {
  const passing = new Uint8Array(mask.length);
  for (const filter of filters) {
    const candidates = mask.slice();
    subtract(candidates, passing);
    yield* narrowToFilter(source, filter, candidates);
    unite(passing, candidates);
  }
  mask.set(passing);
}

function* narrowToClause(
  source: RowSource,
  clause: ColumnClause | SubstringClause,
  mask: Mask,
): Steps {
  const vector = vectorOf(source, clause);
  const undecided = rowsUndecided(vector, clause, mask);
  const matching = undecided.length > 0 ? source.longMatches?.(clause) : undefined;
  if (clause.kind === "substring") {
    yield* vector.narrowInSteps({ on: "text", operator: "contains", value: clause.text }, mask);
  } else {
    if (clause.condition !== undefined) yield* vector.narrowInSteps(clause.condition, mask);
    if (clause.list !== undefined) yield* vector.narrowToList(clause.list, mask);
  }
  if (matching === undefined) return;
  for (const row of undecided) mask[row] = matching.has(row) ? 1 : 0;
}

/** The rows in the mask for which the kept beginning of a text does not decide. */
function rowsUndecided(
  vector: Vector,
  clause: ColumnClause | SubstringClause,
  mask: Mask,
): number[] {
  if (vector.longRows.size === 0 || !needsWholeValue(clause)) return [];
  return [...vector.longRows].filter((row) => mask[row] === 1);
}

function vectorOf(source: RowSource, clause: ColumnClause | SubstringClause): Vector {
  return clause.kind === "substring"
    ? source.vector(clause.key, "any")
    : source.vector(clause.column.id, clause.column.type);
}
