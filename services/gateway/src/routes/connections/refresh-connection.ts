import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { refreshedSchema } from "./connection-schema.ts";

export const refreshConnection = route({
  method: "POST",
  path: "/connections/{id}/refresh",
  scope: "connections:write",
  bucket: "write",
  audit: "connection.refreshed",
  summary: "Renew the credentials of a connection",
  description: [
    "The provider is asked for new credentials now, which otherwise happens by itself before they end.",
    "When it refuses, the answer is 500 INTERNAL_ERROR and the connection's status is error.",
    "`lastSyncedAt` says when they were renewed.",
  ],
  params: { id: "The connection's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The credentials are renewed.", data: refreshedSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ connections, call }, { params }) => {
    const connection = await connections.refreshConnection({ connectionId: params.id }, call);
    return {
      status: 200,
      data: {
        id: connection.id,
        lastSyncedAt: connection.lastSyncedAt ?? null,
        message: "The connection was refreshed.",
      },
    };
  },
});
