import { NO_BODY, NO_QUERY, sessionRoute } from "../../route.ts";
import { listOwnCompanies } from "../../store/users.ts";
import { companyJson, sessionJson } from "./session-json.ts";
import { ownSessionSchema } from "./session-schema.ts";

export const getSession = sessionRoute({
  method: "GET",
  path: "/auth/session",
  bucket: "read",
  summary: "Show who is signed in",
  description: [
    "The answer has the person, the company that the session is for, the role in it, and all companies of the person.",
    "Companies with `invited` are yet to be joined, by PUT.",
  ],
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The session.", data: ownSessionSchema } },
  handler: async ({ database, session, identity }) => {
    const companies = await listOwnCompanies(database, session);
    return {
      status: 200,
      data: {
        ...sessionJson(session, identity.companyId),
        companies: companies.map(companyJson),
      },
    };
  },
});
