import { z } from "zod";
import { removeMember as removePerson } from "../../identity/remove-member.ts";
import { NO_BODY, route } from "../../route.ts";
import { queryBoolean } from "../fields.ts";
import { memberId } from "./member-id.ts";

export const removeMember = route({
  method: "DELETE",
  path: "/members/{userId}",
  scope: "api_keys:write",
  bucket: "write",
  audit: ["member.removed", "api_key.revoked"],
  summary: "Remove a person from the company",
  description: [
    "The person's sessions in the company end; the account stays for other companies.",
    "API keys that the person made stay, unless `revokeKeys` is true.",
    "The last owner cannot be removed: CONFLICT.",
  ],
  params: { userId: "The person's id." },
  query: z.object({
    revokeKeys: queryBoolean(false).describe(
      "Whether the API keys end, too, that the person made, directly or through other keys.",
    ),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "The person is no member any more.",
      data: z.strictObject({
        deleted: z.literal(true),
        revokedKeys: z
          .int()
          .min(0)
          .optional()
          .describe("How many API keys were revoked; only with revokeKeys.")
          .meta({ examples: [2] }),
      }),
    },
  },
  errors: ["NOT_FOUND", "CONFLICT"],
  handler: async (context, { params, query }) => {
    const { database, identity, invalidateAccess } = context;
    const userId = memberId(params.userId);
    const { companyId } = identity;
    const { revokeKeys } = query;
    const removal = { companyId, userId, revokeKeys };
    const revokedKeys = await removePerson(database, removal, context);
    invalidateAccess({ type: "user", id: userId });
    if (revokedKeys > 0) invalidateAccess({ type: "company", id: companyId });
    return { status: 200, data: { deleted: true, ...(revokeKeys ? { revokedKeys } : {}) } };
  },
});
