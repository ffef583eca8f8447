import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteTable = route({
  method: "DELETE",
  path: "/tables/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "table.deleted",
  summary: "Delete a table",
  description: [
    "The table is gone with all of its rows, and there is no way back.",
    "Steps and widgets that name it fail from then on.",
  ],
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The table is gone.", data: deletedSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ tables, call }, { params }) => {
    await tables.deleteTable({ tableId: params.id }, call);
    return { status: 200, data: { deleted: true } };
  },
});
