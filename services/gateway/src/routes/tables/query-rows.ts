import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { columnId, filter, integer, offset, order, QUERY_BYTES_MAX } from "./query-fields.ts";
import { rowsReply } from "./row-json.ts";
import { rowSchema, rowsMetaSchema } from "./row-schema.ts";

export const queryRows = route({
  method: "POST",
  endsWithClient: true,
  path: "/tables/{id}/rows/query",
  scope: "workflows:read",
  bucket: "write",
  audit: null,
  summary: "Find rows",
  description: [
    "A page has the rows that match the filter, in the order of a column or else in the table's own.",
    "Clauses of several columns have to match all; a clause has a condition, a list of values, or both.",
    "An unknown column or an operator that its type does not have is BAD_REQUEST, with every place in `details`.",
    "`meta.total` counts all rows that match; an offset beyond it answers no rows.",
    "The body may have 512 KiB.",
  ],
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: {
    optional: true,
    bytesMax: QUERY_BYTES_MAX,
    schema: z
      .object({
        limit: integer({ min: 1, max: 100 }).default(50).describe("How many rows come at most."),
        offset,
        filter,
        sort: columnId.describe(
          "The column to sort by; without it rows stand in the table's order.",
        ),
        order,
      })
      .meta({
        id: "RowQuery",
        description: "Which rows of a table, in which order, and which part of them.",
        // zod's own `examples` expect parsed values, and `order` is parsed into an enum of the protocol.
        override: {
          examples: [
            { filter: { state: { values: ["open"] } }, sort: "amount", order: "desc", limit: 50 },
          ],
        },
      }),
  },
  responses: {
    200: {
      description: "The page, and how many rows match in all.",
      data: z.array(rowSchema),
      meta: rowsMetaSchema,
    },
  },
  errors: ["NOT_FOUND"],
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
