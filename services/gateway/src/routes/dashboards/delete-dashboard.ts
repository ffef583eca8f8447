import { NO_BODY, NO_QUERY, sessionRoute } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteDashboard = sessionRoute({
  method: "DELETE",
  path: "/dashboards/{id}",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.deleted",
  summary: "Delete a dashboard",
  description: [
    "The dashboard and its widgets are gone; the tables and runs that they showed are not touched.",
    "Only the owner may: for others it is NOT_FOUND.",
  ],
  params: { id: "The dashboard's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The dashboard is deleted.", data: deletedSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ dashboards, call }, { params }) => {
    await dashboards.deleteDashboard({ dashboardId: params.id }, call);
    return { status: 200, data: { deleted: true } };
  },
});
