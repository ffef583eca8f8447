import { SortOrder } from "@workflow/proto/tables/v1/rows";
import { NO_COLUMN_ID } from "./column.ts";
import type { Column } from "./column.ts";
import { Problems } from "./problems.ts";
import type { Sort } from "./row-query.ts";

/**
 * The order that a request wants; null when the request names no column.
 * @param sort the id of a column
 * @throws AppError BAD_REQUEST with path `sort` or `order`
 */
export function parseSort(sort: string, order: SortOrder, columns: readonly Column[]): Sort | null {
  if (sort === "") return null;
  const problems = new Problems();
  const column = columns.find(({ id }) => id === sort);
  if (column === undefined) problems.at("sort").report(NO_COLUMN_ID);
  if (order === SortOrder.UNRECOGNIZED) problems.at("order").report("must be asc or desc");
  problems.throwIfAny();
  return column === undefined ? null : { column, descending: order === SortOrder.DESC };
}
