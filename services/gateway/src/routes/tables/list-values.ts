import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { queryInteger } from "../fields.ts";
import { filterText, search, valuesReply } from "./query-fields.ts";
import { columnValuesSchema } from "./row-schema.ts";

export const listValues = route({
  method: "GET",
  path: "/tables/{id}/columns/{columnId}/values",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the values of a column",
  description: [
    "This is the older form of POST /tables/{id}/columns/{columnId}/values/query, with all of it in the address.",
    "Every filtered column has to be one that the table declares.",
  ],
  params: { id: "The table's id.", columnId: "The id of a declared column." },
  hasLongQuery: true,
  query: z.object({
    filter: filterText,
    search,
    limit: queryInteger({ min: 1, max: 500, otherwise: 100 }).describe(
      "How many values come at most.",
    ),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "The values in the order of the column, blanks last.",
      data: columnValuesSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ rows, call }, { params, query }) => {
    const values = await rows.listDistinctValues(
      {
        tableId: params.id,
        columnId: params.columnId,
        filterJson: query.filter,
        search: query.search,
        limit: query.limit,
        legacyFilter: true,
      },
      call,
    );
    return valuesReply(values);
  },
});
