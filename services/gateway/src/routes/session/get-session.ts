import { NO_BODY, NO_QUERY, sessionRoute } from "../../route.ts";
import { sessionJson } from "./session-json.ts";

export const getSession = sessionRoute({
  method: "GET",
  path: "/auth/session",
  bucket: "read",
  summary: "Show who is signed in",
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "The session." },
  handler: async ({ session, identity }) => ({
    status: 200,
    data: sessionJson(session, identity.companyId),
  }),
});
