import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { filter, integer, QUERY_BYTES_MAX, search, valuesReply } from "./query-fields.ts";
import { columnValuesSchema } from "./row-schema.ts";

export const queryValues = route({
  method: "POST",
  endsWithClient: true,
  path: "/tables/{id}/columns/{columnId}/values/query",
  scope: "workflows:read",
  bucket: "write",
  audit: null,
  summary: "Count the values of a column",
  description: [
    "The answer has the different values of the rows that match the filter, and how many rows have each.",
    "What the filter says of the column itself does not count, as in a menu that offers its values.",
    "Missing keys, null and empty texts are one value, null.",
    "`truncated` says that there are more: search more narrowly.",
  ],
  params: { id: "The table's id.", columnId: "The id of a declared column." },
  query: NO_QUERY,
  body: {
    optional: true,
    bytesMax: QUERY_BYTES_MAX,
    schema: z
      .object({
        filter,
        search,
        limit: integer({ min: 1, max: 500 }).default(100).describe("How many values come at most."),
      })
      .meta({
        id: "ColumnValuesQuery",
        description:
          "Which values of the column. What the filter says of the column itself is left out.",
        examples: [{ search: "op", limit: 100 }],
      }),
  },
  responses: {
    200: {
      description: "The values in the order of the column, blanks last.",
      data: columnValuesSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ rows, call }, { params, body, rawJson }) => {
    const values = await rows.listDistinctValues(
      {
        tableId: params.id,
        columnId: params.columnId,
        filterJson: rawJson("filter") ?? "",
        search: body.search,
        limit: body.limit,
        legacyFilter: false,
      },
      call,
    );
    return valuesReply(values);
  },
});
