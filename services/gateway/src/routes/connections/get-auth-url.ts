import { z } from "zod";
import { route } from "../../route.ts";
import { authorizationSchema } from "./connection-schema.ts";

/** The service gives up a broker that does not answer before this. */
const TIMEOUT_MS = 30_000;

export const getAuthUrl = route({
  method: "GET",
  path: "/connections/{provider}/auth-url",
  scope: "connections:write",
  bucket: "read",
  audit: "connection.created",
  ownPagesOnly: true,
  summary: "Begin to connect an account",
  description: [
    "The answer has the address to which the person is sent to give consent, and the connection stays pending until then.",
    "A connection of the provider that is in error, expired or disconnected is authorized again, and `isNew` is false; without one a pending one is made.",
    "With an active one it is BAD_REQUEST: disconnect it first.",
    "Providers with API keys are BAD_REQUEST here; see POST /connections/{provider}/api-key.",
    "Other parameters of the query are fields that the provider's addresses need, such as `accountId` of netsuite.",
    "Of a company 100 attempts may be open, each for 24 hours.",
    "It makes a connection, so HEAD is refused with 405.",
  ],
  params: { provider: "The provider's id." },
  // Other parameters are fields of the provider's addresses, such as NetSuite's accountId.
  query: z.looseObject({
    redirectUrl: z
      .string()
      .optional()
      .describe(
        "Where the person goes afterwards: an http or https URL of at most 2,048 characters.",
      )
      .meta({ maxLength: 2_048, examples: ["https://app.example.com/connected"] }),
    connectionName: z
      .string()
      .optional()
      .describe("The name of a connection that is made; by default the provider's.")
      .meta({ minLength: 1, maxLength: 255 }),
  }),
  body: { schema: z.object({}), optional: true },
  responses: {
    200: {
      description: "Where to send the person, and the connection that it is about.",
      data: authorizationSchema,
    },
  },
  errors: ["NOT_FOUND", "CONFLICT", "UPSTREAM_ERROR"],
  handler: async ({ authorizations, publicOrigin, call }, { params, query }) => {
    const { redirectUrl, connectionName, ...others } = query;
    const fields = Object.fromEntries(
      Object.entries(others).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value]] : [],
      ),
    );
    const request = {
      ...params,
      redirectUrl,
      connectionName,
      fields,
      publicOrigin: publicOrigin(),
    };
    const begun = await authorizations.beginAuthorization(request, {
      ...call,
      timeoutMs: TIMEOUT_MS,
    });
    const { connectionId, provider, authUrl, isNew, message } = begun;
    return { status: 200, data: { connectionId, provider, authUrl, isNew, message } };
  },
});
