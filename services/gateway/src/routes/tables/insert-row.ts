import { NO_QUERY, route } from "../../route.ts";
import { rowJson } from "./row-json.ts";
import { rowFields, rowSchema } from "./row-schema.ts";

export const insertRow = route({
  method: "POST",
  path: "/tables/{id}/rows",
  scope: "workflows:write",
  bucket: "write",
  audit: null,
  summary: "Add a row",
  description: [
    "The row stands at the end of the table; keys that no column declares are kept.",
    "A table that is full is BAD_REQUEST: `Table has reached its maximum row limit of N`.",
    "Where the table has `rowEvents`, workflows that wait for its rows are started.",
    "Each request adds a row.",
  ],
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: { schema: rowFields },
  responses: { 201: { description: "The new row.", data: rowSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ rowInserts, call }, { params, rawJson }) => {
    const dataJson = rawJson("data") ?? "";
    const row = await rowInserts.insert({ tableId: params.id, dataJson, origin: undefined }, call);
    return { status: 201, data: rowJson(row) };
  },
});
