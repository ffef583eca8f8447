import { AppError } from "@workflow/errors";
import type {
  ListDistinctValuesRequest,
  ListDistinctValuesResponse,
} from "@workflow/proto/tables/v1/rows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import type { Column } from "../domain/column.ts";
import { parseFilter } from "../domain/parse-filter.ts";
import { Problems } from "../domain/problems.ts";
import { withoutColumn } from "../domain/without-column.ts";
import type { DistinctQuery } from "../engine/index.ts";
import { requireTableName } from "./table-name.ts";

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 500;
const SEARCH_CHARS_MAX = 255;

/** Lists the different values of a column. */
export function listDistinctValues({
  snapshots,
}: ServiceContext): UnaryMethod<ListDistinctValuesRequest, ListDistinctValuesResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, call) {
      const limit = parseLimit(request);
      const table = requireTableName(request.tableId, call);
      const { values, truncated } = await snapshots.listDistinct(
        table,
        (columns) => parseQuery(request, columns, limit),
        call,
      );
      return { values: [...values], truncated };
    },
  });
}

function parseLimit({ limit = LIMIT_DEFAULT, search }: ListDistinctValuesRequest): number {
  const problems = new Problems();
  if (limit < 1 || limit > LIMIT_MAX) {
    problems.at("limit").report(`must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  if (Array.from(search).length > SEARCH_CHARS_MAX) {
    problems.at("search").report(`must have at most ${SEARCH_CHARS_MAX} characters`);
  }
  problems.throwIfAny();
  return limit;
}

function parseQuery(
  { columnId, filterJson, search, legacyFilter }: ListDistinctValuesRequest,
  columns: readonly Column[],
  limit: number,
): DistinctQuery {
  const column = columns.find(({ id }) => id === columnId);
  if (column === undefined) throw new AppError("NOT_FOUND", "Column not found");
  const mode = legacyFilter ? "legacyDistinct" : "structured";
  const filter = withoutColumn(parseFilter(filterJson, columns, mode), columnId);
  return { column, filter, search, limit };
}
