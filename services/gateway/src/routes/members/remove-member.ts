import { z } from "zod";
import { removeMember as removePerson } from "../../identity/remove-member.ts";
import { NO_BODY, route } from "../../route.ts";
import { memberId } from "./member-id.ts";

export const removeMember = route({
  method: "DELETE",
  path: "/members/{userId}",
  scope: "api_keys:write",
  bucket: "write",
  audit: ["member.removed", "api_key.revoked"],
  summary: "Remove a person from the company; the person's sessions in it end",
  params: { userId: "The person's id." },
  query: z.object({
    revokeKeys: z.enum(["true", "false"], "must be true or false").default("false"),
  }),
  body: NO_BODY,
  responses: { 200: "The person is no member any more." },
  handler: async (context, { params, query }) => {
    const { database, identity, forget } = context;
    const userId = memberId(params.userId);
    const { companyId } = identity;
    const revokeKeys = query.revokeKeys === "true";
    const removal = { companyId, userId, revokeKeys };
    const revokedKeys = await removePerson(database, removal, context);
    forget({ type: "user", id: userId });
    if (revokedKeys > 0) forget({ type: "company", id: companyId });
    return { status: 200, data: { deleted: true, ...(revokeKeys ? { revokedKeys } : {}) } };
  },
});
