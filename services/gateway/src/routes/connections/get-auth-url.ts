import { z } from "zod";
import { route } from "../../route.ts";

/** A broker that does not answer is given up before. */
const TIMEOUT_MS = 30_000;

export const getAuthUrl = route({
  method: "GET",
  path: "/connections/{provider}/auth-url",
  scope: "connections:write",
  bucket: "read",
  audit: "connection.created",
  ownPagesOnly: true,
  summary: "Begin to connect an account at a provider",
  params: { provider: "The provider's id." },
  // Other parameters are fields that the provider's addresses need: NetSuite's accountId.
  query: z.looseObject({
    redirectUrl: z.string().optional(),
    connectionName: z.string().optional(),
  }),
  body: { schema: z.object({}), optional: true },
  responses: { 200: "Where to send the person, and the connection that it is about." },
  handler: async ({ authorizations, publicOrigin, call }, { params, query }) => {
    const { redirectUrl, connectionName, ...others } = query;
    const fields = Object.fromEntries(
      Object.entries(others).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value]] : [],
      ),
    );
    const request = { ...params, redirectUrl, connectionName, fields, publicOrigin };
    const begun = await authorizations.beginAuthorization(request, {
      ...call,
      timeoutMs: TIMEOUT_MS,
    });
    const { connectionId, provider, authUrl, isNew, message } = begun;
    return { status: 200, data: { connectionId, provider, authUrl, isNew, message } };
  },
});
