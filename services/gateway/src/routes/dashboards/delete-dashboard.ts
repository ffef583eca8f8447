import { NO_BODY, NO_QUERY, sessionRoute } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteDashboard = sessionRoute({
  method: "DELETE",
  path: "/dashboards/{id}",
  roleScope: "workflows:write",
  bucket: "write",
  audit: "dashboard.deleted",
  summary: "Delete a dashboard and its widgets",
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
