import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { connectionStatusName, requireConnection } from "./connection-json.ts";
import { verifiedSchema } from "./connection-schema.ts";

export const verifyConnection = route({
  method: "POST",
  path: "/connections/{id}/verify",
  scope: "connections:write",
  bucket: "write",
  audit: "connection.verified",
  summary: "Check the credentials of a connection",
  description: [
    "The provider is asked, and the answer is 200 whatever it says: see `healthy`, `status` and `error`.",
    "Bad credentials set the status to error.",
    "A provider that cannot be reached changes nothing, and a pending connection is not asked for.",
  ],
  params: { id: "The connection's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "What the provider says, or that it does not answer.",
      data: verifiedSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ connections, call }, { params }) => {
    const answer = await connections.verifyConnection({ connectionId: params.id }, call);
    const connection = requireConnection(answer.connection);
    return {
      status: 200,
      data: {
        healthy: answer.healthy,
        connectionId: connection.id,
        provider: connection.provider,
        status: connectionStatusName(connection.status),
        externalAccountId: connection.externalAccountId ?? null,
        error: answer.error ?? null,
        checkedAt: answer.checkedAt,
      },
    };
  },
});
