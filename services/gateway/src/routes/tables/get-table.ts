import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { tableJson } from "./table-json.ts";
import { tableSchema } from "./table-schema.ts";

export const getTable = route({
  method: "GET",
  path: "/tables/{id}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get a table",
  description: [
    "The answer has the columns and how many rows there are.",
    "Rows are read by POST /tables/{id}/rows/query.",
  ],
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The table.", data: tableSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ tables, call }, { params }) => {
    const table = await tables.getTable({ tableId: params.id }, call);
    return { status: 200, data: tableJson(table) };
  },
});
