import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { rowJson } from "./row-json.ts";
import { rowSchema } from "./row-schema.ts";

export const getRow = route({
  method: "GET",
  path: "/tables/{id}/rows/{rowId}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get a row",
  description: [
    "The data is as it was written, keys that no column declares included.",
    "A row of another table is NOT_FOUND.",
  ],
  params: { id: "The table's id.", rowId: "The row's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The row.", data: rowSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ rows, call }, { params }) => {
    const row = await rows.getRow({ tableId: params.id, rowId: params.rowId }, call);
    return { status: 200, data: rowJson(row) };
  },
});
