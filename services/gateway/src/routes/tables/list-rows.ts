import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { pageLimit, queryInteger } from "../fields.ts";
import { columnId, filterText, order } from "./query-fields.ts";
import { rowsReply } from "./row-json.ts";
import { rowSchema, rowsMetaSchema } from "./row-schema.ts";

export const listRows = route({
  method: "GET",
  path: "/tables/{id}/rows",
  scope: "workflows:read",
  bucket: "read",
  summary: "List rows",
  description: [
    "This is the older form of POST /tables/{id}/rows/query, with the filter in the address.",
    "A clause of the filter may also be a plain text, number or boolean that the value has to contain.",
    "Long filters belong into the other form.",
  ],
  params: { id: "The table's id." },
  hasLongQuery: true,
  query: z.object({
    limit: pageLimit({ max: 100, otherwise: 50 }),
    offset: queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 }).describe(
      "How many matching rows to leave out at the beginning.",
    ),
    filter: filterText,
    sort: columnId.describe("The column to sort by; without it rows stand in the table's order."),
    order,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "The page, and how many rows match in all.",
      data: z.array(rowSchema),
      meta: rowsMetaSchema,
    },
  },
  errors: ["NOT_FOUND"],
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
