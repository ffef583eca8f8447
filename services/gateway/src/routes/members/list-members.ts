import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { listMembers as readMembers } from "../../store/members.ts";
import { memberJson } from "./member-json.ts";

export const listMembers = route({
  method: "GET",
  path: "/members",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the people of the company, newest first",
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "All of them, with their roles." },
  handler: async ({ database, identity }) => {
    const members = await readMembers(database, identity.companyId);
    return { status: 200, data: members.map(memberJson) };
  },
});
