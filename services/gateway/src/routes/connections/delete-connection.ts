import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteConnection = route({
  method: "DELETE",
  path: "/connections/{id}",
  scope: "connections:write",
  bucket: "write",
  audit: "connection.deleted",
  summary: "Disconnect an account",
  description: [
    "The credentials are deleted at once, and the access is taken back at the provider or broker afterwards.",
    "Workflows that use the connection fail from now on.",
    "A connection that was authorized stays as disconnected and can be authorized again; one by API key is gone.",
  ],
  params: { id: "The connection's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The connection has ended.", data: deletedSchema } },
  errors: ["NOT_FOUND", "CONFLICT"],
  handler: async ({ connections, call }, { params }) => {
    await connections.deleteConnection({ connectionId: params.id }, call);
    return { status: 200, data: { deleted: true } };
  },
});
