import { PROVIDERS } from "@workflow/catalog";
import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { connectionJson, requireConnection } from "./connection-json.ts";

const text = z.string().nullish();

/** What the providers with API keys want besides: `domain`, `environment` and the like. */
const FIELD_NAMES = [
  ...new Set(
    PROVIDERS.flatMap(({ auth }) => (auth.kind === "apiKey" ? auth.fields : [])).map(
      ({ key }) => key,
    ),
  ),
];

export const connectApiKey = route({
  method: "POST",
  path: "/connections/{provider}/api-key",
  scope: "connections:write",
  bucket: "write",
  audit: ["connection.created", "connection.credentials_replaced"],
  summary: "Connect an account with API keys, or replace those of a connection",
  params: { provider: "The provider's identifier." },
  query: NO_QUERY,
  body: {
    schema: z.object({
      ...Object.fromEntries(
        FIELD_NAMES.map((name) => [name, text.describe("For the providers that want it.")]),
      ),
      apiKey: z.string().describe("1 to 8,192 printable ASCII characters."),
      name: text.describe("At most 255 characters; by default the provider's name."),
      connectionId: text.describe("The connection whose credentials are replaced."),
    }),
  },
  responses: { 200: "The connection with its new credentials.", 201: "The new connection." },
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
