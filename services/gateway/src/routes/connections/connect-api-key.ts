import { NO_QUERY, route } from "../../route.ts";
import { connectionJson, requireConnection } from "./connection-json.ts";
import { keyedConnectionSchema } from "./connection-schema.ts";
import { keyFields } from "./key-fields.ts";

export const connectApiKey = route({
  method: "POST",
  path: "/connections/{provider}/api-key",
  scope: "connections:write",
  bucket: "write",
  audit: ["connection.created", "connection.credentials_replaced"],
  summary: "Connect an account with an API key",
  description: [
    "The provider is asked first whether the key is good: a bad one is BAD_REQUEST, and nothing is stored.",
    "201 is a new active connection; with `connectionId` the credentials of that one are replaced, which is 200.",
    "A provider that cannot be asked is 502 UPSTREAM_ERROR: try again, and keep the key.",
    "The key is encrypted and never shown again.",
  ],
  params: { provider: "The provider's identifier." },
  query: NO_QUERY,
  body: { schema: keyFields },
  responses: {
    200: {
      description: "The connection with its new credentials.",
      data: keyedConnectionSchema,
    },
    201: { description: "The new connection.", data: keyedConnectionSchema },
  },
  errors: ["NOT_FOUND", "UPSTREAM_ERROR"],
  handler: async ({ connections, call }, { params, body }) => {
    const { apiKey, name, connectionId, ...given } = body;
    const fields: Record<string, string> = {};
    for (const [key, value] of Object.entries(given)) {
      if (typeof value === "string") fields[key] = value;
    }
    const answer = await connections.connectApiKey(
      {
        provider: params.provider,
        connectionId: connectionId ?? "",
        name: name ?? "",
        apiKey,
        fields,
      },
      call,
    );
    const connection = requireConnection(answer.connection);
    const message = answer.created
      ? "The connection is active."
      : "The credentials of the connection were replaced.";
    return {
      status: answer.created ? 201 : 200,
      data: { ...connectionJson(connection), message },
    };
  },
});
