import type { QueryRowsRequest, QueryRowsResponse } from "@workflow/proto/tables/v1/rows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { parseFilter } from "../domain/parse-filter.ts";
import { parseSort } from "../domain/parse-sort.ts";
import { Problems } from "../domain/problems.ts";
import { toRowMessage } from "./row-message.ts";
import { requireTableName } from "./table-name.ts";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/** Returns a page of a table's rows. */
export function queryRows({
  snapshots,
}: ServiceContext): UnaryMethod<QueryRowsRequest, QueryRowsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, call) {
      const { limit, offset } = parsePage(request);
      const table = requireTableName(request.tableId, call);
      const { filterJson, sort, order } = request;
      const mode = request.legacyFilter ? "legacyRows" : "structured";
      const { rows, total } =
        filterJson === "" && sort === ""
          ? await snapshots.listRows(table, { limit, offset }, call)
          : await snapshots.queryRows(
              table,
              (columns) => ({
                filter: parseFilter(filterJson, columns, mode),
                sort: parseSort(sort, order, columns),
                limit,
                offset,
              }),
              call,
            );
      const hasMore = offset + rows.length < total;
      return { rows: rows.map(toRowMessage), total, limit, offset, hasMore };
    },
  });
}

function parsePage({ limit = LIMIT_DEFAULT, offset }: QueryRowsRequest) {
  const problems = new Problems();
  if (limit < 1 || limit > LIMIT_MAX) {
    problems.at("limit").report(`must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  if (offset < 0 || !Number.isSafeInteger(offset)) {
    problems.at("offset").report("must be a whole number, 0 or more");
  }
  problems.throwIfAny();
  return { limit, offset };
}
