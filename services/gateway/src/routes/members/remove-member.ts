import { removeMember as removePerson } from "../../identity/remove-member.ts";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { memberId } from "./member-id.ts";

export const removeMember = route({
  method: "DELETE",
  path: "/members/{userId}",
  scope: "api_keys:write",
  bucket: "write",
  audit: "member.removed",
  summary: "Remove a person from the company; the person's sessions in it end",
  params: { userId: "The person's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "The person is no member any more." },
  handler: async (context, { params }) => {
    const { database, identity, session, forget } = context;
    const userId = memberId(params.userId);
    await removePerson(database, { companyId: identity.companyId, userId, session }, context);
    forget({ type: "user", id: userId });
    return { status: 200, data: { deleted: true } };
  },
});
