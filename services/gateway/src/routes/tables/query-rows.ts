import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { columnId, filter, integer, offset, order, QUERY_BYTES_MAX } from "./query-fields.ts";
import { rowsReply } from "./row-json.ts";

export const queryRows = route({
  method: "POST",
  path: "/tables/{id}/rows/query",
  scope: "workflows:read",
  bucket: "write",
  audit: null,
  summary: "Read a page of the rows that match a filter, in the order of a column",
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: {
    optional: true,
    bytesMax: QUERY_BYTES_MAX,
    schema: z.object({
      limit: integer({ min: 1, max: 100 }).default(50),
      offset,
      filter,
      sort: columnId,
      order,
    }),
  },
  responses: { 200: "The page, and how many rows match in all." },
  handler: async ({ rows, call }, { params, body, rawJson }) => {
    const page = await rows.queryRows(
      {
        tableId: params.id,
        limit: body.limit,
        offset: body.offset,
        filterJson: rawJson("filter") ?? "",
        sort: body.sort ?? "",
        order: body.order,
        legacyFilter: false,
      },
      call,
    );
    return rowsReply(page);
  },
});
