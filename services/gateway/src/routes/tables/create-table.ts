import { NO_QUERY, route } from "../../route.ts";
import { createTableRequest, newTable } from "./table-fields.ts";
import { tableJson } from "./table-json.ts";
import { tableSchema } from "./table-schema.ts";

export const createTable = route({
  method: "POST",
  path: "/tables",
  scope: "workflows:write",
  bucket: "write",
  audit: "table.created",
  summary: "Create a table",
  description: [
    "The table has no rows; its columns say how rows are shown, filtered and sorted.",
    "A column without an id gets one, which rows, filters and sorting use.",
    "Columns are advice: rows keep every key that is written.",
    "Each request makes a table, also of the same name.",
    "A company has at most 1,000 tables; one more is BAD_REQUEST.",
  ],
  params: {},
  query: NO_QUERY,
  body: { schema: newTable },
  responses: { 201: { description: "The new table.", data: tableSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ tables, call }, { body, rawJson }) => {
    const table = await tables.createTable(createTableRequest(body, rawJson), call);
    return { status: 201, data: tableJson(table) };
  },
});
