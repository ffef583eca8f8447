import type { Filter, RowQuery } from "../domain/row-query.ts";
import { selectRows, vectorsOf } from "../engine/index.ts";
import type { RowSource, VectorName } from "../engine/index.ts";

/** The rows of a table as they were at one revision. */
export interface TableSource extends RowSource {
  readonly revision: number;
  /** Where in the table the row of an index lies. */
  positionAt(index: number): number;
}

/** Something that can be answered from columns in memory. */
export interface Question<Answer> {
  /** The columns that it looks at. */
  readonly vectors: readonly VectorName[];
  /** The filter that it applies. */
  readonly filter: Filter;
  /** Works the answer out, without a pause. */
  answer(source: TableSource): Answer;
}

/** Where the rows of a page lie, in their order, at a revision of the table. */
export interface PagePlan {
  readonly revision: number;
  readonly total: number;
  readonly positions: readonly number[];
}

/** Asks which rows make up a page. */
export function pageQuestion(query: RowQuery): Question<PagePlan> {
  return {
    vectors: vectorsOf(query.filter, query.sort),
    filter: query.filter,
    answer(source) {
      const { total, indexes } = selectRows(source, query);
      const positions = Array.from(indexes, (index) => source.positionAt(index));
      return { revision: source.revision, total, positions };
    },
  };
}
