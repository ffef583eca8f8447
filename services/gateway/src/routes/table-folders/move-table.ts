import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { folderId, folderIdOf } from "../tables/table-fields.ts";
import { movedTableSchema } from "../tables/table-schema.ts";

export const moveTable = route({
  method: "PATCH",
  path: "/table-folders/tables/{tableId}",
  scope: "workflows:write",
  bucket: "write",
  audit: "table.moved",
  summary: "Move a table into a folder",
  description: [
    "A table lies in one folder, or with `folderId: null` in the root.",
    "A table or folder that is not the company's is NOT_FOUND.",
    "Moving it where it lies already is fine.",
  ],
  params: { tableId: "The table's id." },
  query: NO_QUERY,
  body: {
    schema: z
      .object({ folderId })
      .meta({ id: "TableMove", description: "Where a table is to lie." }),
  },
  responses: { 200: { description: "Where the table lies now.", data: movedTableSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ tables, call }, { params, body }) => {
    const moved = await tables.moveTable(
      { tableId: params.tableId, folderId: folderIdOf(body.folderId) },
      call,
    );
    return { status: 200, data: { tableId: moved.tableId, folderId: moved.folderId ?? null } };
  },
});
