import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { connectionStatusName, requireConnection } from "./connection-json.ts";

export const createConnection = route({
  method: "POST",
  path: "/connections",
  scope: "connections:write",
  bucket: "write",
  audit: "connection.created",
  summary: "Begin to connect an account by OAuth or at a bank, or connect an own application",
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      name: z.string().describe("1 to 255 characters."),
      provider: z.string().describe("The provider's identifier."),
      metadata: jsonObject.nullish().describe("Any JSON object of at most 16 KiB."),
      externalAccountId: z
        .string()
        .nullish()
        .describe(
          "Of an own application, required there: the account by which it names events. One connection may have it: 409.",
        ),
    }),
  },
  responses: { 201: "The connection, and where to authorize it." },
  handler: async ({ connections, publicOrigin, call }, { body, rawJson }) => {
    const { name, provider, metadata, externalAccountId } = body;
    const answer = await connections.createConnection(
      {
        name,
        provider,
        metadataJson: metadata ? (rawJson("metadata") ?? "") : "",
        externalAccountId: externalAccountId ?? "",
        publicOrigin,
      },
      call,
    );
    const connection = requireConnection(answer.connection);
    const isPending = answer.authorizationUrl !== "";
    return {
      status: 201,
      data: {
        id: connection.id,
        name: connection.name,
        provider: connection.provider,
        status: connectionStatusName(connection.status),
        oauthUrl: isPending ? answer.authorizationUrl : null,
        message: isPending
          ? "Open oauthUrl in a browser to complete the connection."
          : "The connection is active.",
      },
    };
  },
});
