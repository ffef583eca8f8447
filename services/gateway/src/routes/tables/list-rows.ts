import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { queryInteger } from "../fields.ts";
import { columnId, filterText, order } from "./query-fields.ts";
import { rowsReply } from "./row-json.ts";

export const listRows = route({
  method: "GET",
  path: "/tables/{id}/rows",
  scope: "workflows:read",
  bucket: "read",
  summary: "Read a page of rows: the older form of the query, with all of it in the address",
  params: { id: "The table's id." },
  hasLongQuery: true,
  query: z.object({
    limit: queryInteger({ min: 1, max: 100 }).default(50),
    offset: queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER }).default(0),
    filter: filterText,
    sort: columnId,
    order,
  }),
  body: NO_BODY,
  responses: { 200: "The page, and how many rows match in all." },
  handler: async ({ rows, call }, { params, query }) => {
    const page = await rows.queryRows(
      {
        tableId: params.id,
        limit: query.limit,
        offset: query.offset,
        filterJson: query.filter,
        sort: query.sort ?? "",
        order: query.order,
        legacyFilter: true,
      },
      call,
    );
    return rowsReply(page);
  },
});
