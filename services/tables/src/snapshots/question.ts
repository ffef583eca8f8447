import type { RowQuery } from "../domain/row-query.ts";
import { aggregateInSteps, distinctInSteps, selectInSteps, vectorsOf } from "../engine/index.ts";
import type {
  AggregateQuery,
  DistinctQuery,
  DistinctValues,
  Steps,
  VectorName,
} from "../engine/index.ts";
import { encodeInSteps } from "./figures.ts";
import type { Figures } from "./figures.ts";
import { searchTest, testsOf } from "./long-matches.ts";
import type { WholeValueTest } from "./long-matches.ts";
import type { TableSource } from "./table-source.ts";

/** Something that can be worked out from columns in memory. */
export interface Question<Answer> {
  /** The columns that the answer needs. */
  readonly vectors: readonly VectorName[];
  /** The tests of whole values, where memory holds only their beginning. */
  readonly tests: readonly WholeValueTest[];
  /** Works the answer out. The answer holds if the source does not change between the steps. */
  answer(source: TableSource): Steps<Answer>;
}

/** The places of a page's rows, in the page's order, at a revision of the table. */
export interface PagePlan {
  readonly revision: number;
  readonly total: number;
  readonly positions: readonly number[];
}

/** Asks for the rows of a page. */
export function pageQuestion(query: RowQuery): Question<PagePlan> {
  return {
    vectors: vectorsOf(query.filter, query.sort),
    tests: testsOf(query.filter),
    *answer(source) {
      const { total, indexes } = yield* selectInSteps(source, query);
      const positions = Array.from(indexes, (index) => source.positionAt(index));
      return { revision: source.revision, total, positions };
    },
  };
}

/** Asks for the different values of a column. */
export function distinctQuestion(query: DistinctQuery): Question<DistinctValues> {
  const { column, filter, search } = query;
  const tests = testsOf(filter);
  return {
    // A sort by the column names the column's own vector.
    vectors: vectorsOf(filter, { column, descending: false }),
    tests: search === "" ? tests : [...tests, searchTest(column, search)],
    answer: (source) => distinctInSteps(source, query),
  };
}

/** Asks for figures of groups. */
export function aggregateQuestion(query: AggregateQuery): Question<Figures> {
  const { filter, groupBy, measures } = query;
  const vectors = vectorsOf(filter, null);
  for (const column of [groupBy, ...measures.map((measure) => measure.column)]) {
    const isNew = column !== null && !vectors.some((name) => isVectorOf(name, column));
    if (isNew) vectors.push({ key: column.id, type: column.type });
  }
  return {
    vectors,
    tests: testsOf(filter),
    *answer(source) {
      return yield* encodeInSteps(yield* aggregateInSteps(source, query));
    },
  };
}

function isVectorOf(name: VectorName, { id, type }: { id: string; type: string }): boolean {
  return name.key === id && name.type === type;
}
