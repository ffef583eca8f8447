import { z } from "zod";
import { roleInput } from "../../identity/inputs.ts";
import { changeRole as giveRole } from "../../identity/change-role.ts";
import { NO_QUERY, route } from "../../route.ts";
import { memberId } from "./member-id.ts";
import { memberJson } from "./member-json.ts";
import { memberSchema } from "./member-schema.ts";

export const changeRole = route({
  method: "PATCH",
  path: "/members/{userId}",
  scope: "api_keys:write",
  bucket: "write",
  audit: "member.role_changed",
  summary: "Give a member another role",
  description: [
    "The new role counts within seconds, also for sessions that are open.",
    "Only a signed-in owner may make an owner or change one, else FORBIDDEN.",
    "The last owner stays one: CONFLICT.",
  ],
  params: { userId: "The person's id." },
  query: NO_QUERY,
  body: {
    schema: z.object({ role: roleInput.describe("The new role.").meta({ examples: ["admin"] }) }),
  },
  responses: { 200: { description: "The member.", data: memberSchema } },
  errors: ["NOT_FOUND", "CONFLICT"],
  handler: async (context, { params, body: { role } }) => {
    const { database, identity, invalidateAccess } = context;
    const userId = memberId(params.userId);
    const change = { companyId: identity.companyId, userId, role };
    const member = await giveRole(database, change, context);
    invalidateAccess({ type: "user", id: userId });
    return { status: 200, data: memberJson(member) };
  },
});
