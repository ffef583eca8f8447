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
  summary: "Count the different values of a column: the older form, with all of it in the address",
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
