import { z } from "zod";
import { route } from "../../route.ts";
import { queryBoolean } from "../fields.ts";
import { rowJson } from "./row-json.ts";
import { rowFields, rowSchema } from "./row-schema.ts";

export const updateRow = route({
  method: "PATCH",
  path: "/tables/{id}/rows/{rowId}",
  scope: "workflows:write",
  bucket: "write",
  audit: null,
  summary: "Change a row",
  description: [
    "All of the data is replaced; with `merge=true` only the members that are given, each as a whole.",
    "The row keeps its place.",
    "Where the table has `rowEvents`, workflows that wait for its rows are started.",
  ],
  params: { id: "The table's id.", rowId: "The row's id." },
  query: z.object({
    merge: queryBoolean(false).describe(
      "Whether members that are not given stay as they are; else all of the data is replaced.",
    ),
  }),
  body: { schema: rowFields },
  responses: { 200: { description: "The row as it is now.", data: rowSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ rows, call }, { params, query, rawJson }) => {
    const row = await rows.updateRow(
      {
        tableId: params.id,
        rowId: params.rowId,
        dataJson: rawJson("data") ?? "",
        merge: query.merge,
        origin: undefined,
      },
      call,
    );
    return { status: 200, data: rowJson(row) };
  },
});
