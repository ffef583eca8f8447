import { z } from "zod";
import { route } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { rowJson } from "./row-json.ts";

export const updateRow = route({
  method: "PATCH",
  path: "/tables/{id}/rows/{rowId}",
  scope: "workflows:write",
  bucket: "write",
  audit: null,
  summary: "Replace the data of a row; with merge=true, only the members that are given",
  params: { id: "The table's id.", rowId: "The row's id." },
  query: z.object({ merge: z.enum(["true", "false"]).default("false") }),
  body: { schema: z.object({ data: jsonObject }) },
  responses: { 200: "The row as it is now." },
  handler: async ({ rows, call }, { params, query, rawJson }) => {
    const row = await rows.updateRow(
      {
        tableId: params.id,
        rowId: params.rowId,
        dataJson: rawJson("data") ?? "",
        merge: query.merge === "true",
        origin: undefined,
      },
      call,
    );
    return { status: 200, data: rowJson(row) };
  },
});
