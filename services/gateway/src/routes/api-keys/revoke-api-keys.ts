import { z } from "zod";
import { recordAudit } from "../../audit/record-audit.ts";
import { revokeKeysBy } from "../../identity/revoke-keys.ts";
import { NO_BODY, route } from "../../route.ts";
import { lockMembers } from "../../store/members.ts";
import { makerId } from "./maker-id.ts";

export const revokeApiKeys = route({
  method: "DELETE",
  path: "/auth/api-keys",
  scope: "api_keys:write",
  bucket: "write",
  audit: "api_key.revoked",
  summary: "Revoke the API keys of a person or a key",
  description: [
    "All keys are revoked that the person or key in `createdBy` made, directly or through other keys.",
    "`revoked` says how many; none is fine too.",
  ],
  params: {},
  query: z.object({ createdBy: makerId.describe("The id of the person, or of the key.") }),
  body: NO_BODY,
  responses: {
    200: {
      description: "How many were revoked.",
      data: z.strictObject({
        revoked: z
          .int()
          .min(0)
          .meta({ examples: [2] }),
      }),
    },
  },
  handler: async (context, { query: { createdBy } }) => {
    const { companyId } = context.identity;
    const revoked = await context.database.transaction(async (transaction) => {
      // Under the lock all keys exist whose creation has begun; later ones are refused with their
      // creator.
      await lockMembers(transaction, companyId);
      const entries = await revokeKeysBy(transaction, companyId, createdBy);
      await recordAudit(transaction, context, ...entries);
      return entries.length;
    });
    context.invalidateAccess({ type: "company", id: companyId });
    return { status: 200, data: { revoked } };
  },
});
