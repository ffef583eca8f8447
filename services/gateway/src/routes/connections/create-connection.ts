import { PROVIDERS } from "@workflow/catalog";
import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { jsonObject } from "../fields.ts";
import { connectionStatusName, requireConnection } from "./connection-json.ts";
import { newConnectionSchema } from "./connection-schema.ts";

/** Providers with API keys have a route of their own. */
const CREATABLE = PROVIDERS.filter(({ auth }) => auth.kind !== "apiKey").map(({ id }) => id);

export const createConnection = route({
  method: "POST",
  path: "/connections",
  scope: "connections:write",
  bucket: "write",
  audit: "connection.created",
  summary: "Connect an account",
  description: [
    "By OAuth or at a bank the connection is pending, and `oauthUrl` is where the person gives consent.",
    "An own application is active at once, with the account that it names.",
    "Providers with API keys are BAD_REQUEST here; see POST /connections/{provider}/api-key.",
    "A company has 1,000 connections at most, else BAD_REQUEST with `details.limit` `connections`.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        name: z
          .string()
          .describe("1 to 255 characters.")
          .meta({ minLength: 1, maxLength: 255, examples: ["Billing account"] }),
        provider: z
          .string()
          .describe(
            "The id of a provider that is connected by OAuth, at a bank, or is an own application.",
          )
          .meta({ override: { enum: CREATABLE }, examples: ["hubspot"] }),
        metadata: jsonObject
          .nullish()
          .describe(
            "Any JSON object of at most 16 KiB. Fields that the provider's addresses need are looked for here, such as NetSuite's `accountId`.",
          )
          .meta({ examples: [{ team: "finance" }] }),
        externalAccountId: z
          .string()
          .meta({ minLength: 1, maxLength: 255 })
          .nullish()
          .describe(
            "Of an own application, required there: the account by which it names events. One connection may have it: 409.",
          ),
      })
      .meta({ id: "NewConnection", description: "A connection to begin." }),
  },
  responses: {
    201: {
      description: "The connection, and where to authorize it.",
      data: newConnectionSchema,
    },
  },
  errors: ["CONFLICT", "UPSTREAM_ERROR"],
  handler: async ({ connections, publicOrigin, call }, { body, rawJson }) => {
    const { name, provider, metadata, externalAccountId } = body;
    const answer = await connections.createConnection(
      {
        name,
        provider,
        metadataJson: metadata ? (rawJson("metadata") ?? "") : "",
        externalAccountId: externalAccountId ?? "",
        publicOrigin: publicOrigin(),
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
