import { z } from "zod";
import { roleInput } from "../../admin/inputs.ts";
import { changeRole as giveRole } from "../../identity/change-role.ts";
import { NO_QUERY, route } from "../../route.ts";
import { memberId } from "./member-id.ts";
import { memberJson } from "./member-json.ts";

export const changeRole = route({
  method: "PATCH",
  path: "/members/{userId}",
  scope: "api_keys:write",
  bucket: "write",
  audit: "member.role_changed",
  summary: "Give a member another role",
  params: { userId: "The person's id." },
  query: NO_QUERY,
  body: { schema: z.object({ role: roleInput }) },
  responses: { 200: "The member." },
  handler: async (context, { params, body: { role } }) => {
    const { database, identity, forget } = context;
    const userId = memberId(params.userId);
    const change = { companyId: identity.companyId, userId, role };
    const member = await giveRole(database, change, context);
    forget({ type: "user", id: userId });
    return { status: 200, data: memberJson(member) };
  },
});
