import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { connectionWithMetadataJson } from "./connection-json.ts";
import { connectionSchema } from "./connection-schema.ts";

export const getConnection = route({
  method: "GET",
  path: "/connections/{id}",
  scope: "connections:read",
  bucket: "read",
  summary: "Get a connection",
  description: [
    "The answer has the metadata, and `errorMessage` says what is wrong with one in error.",
    "Credentials are never shown.",
  ],
  params: { id: "The connection's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The connection.", data: connectionSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ connections, call }, { params }) => {
    const connection = await connections.getConnection({ connectionId: params.id }, call);
    return { status: 200, data: connectionWithMetadataJson(connection) };
  },
});
