import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteRow = route({
  method: "DELETE",
  path: "/tables/{id}/rows/{rowId}",
  scope: "workflows:write",
  bucket: "write",
  audit: null,
  summary: "Delete a row",
  description: ["The row is gone, and `rowCount` is one less.", "A second time it is NOT_FOUND."],
  params: { id: "The table's id.", rowId: "The row's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The row is gone.", data: deletedSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ rows, call }, { params }) => {
    await rows.deleteRow({ tableId: params.id, rowId: params.rowId, origin: undefined }, call);
    return { status: 200, data: { deleted: true } };
  },
});
