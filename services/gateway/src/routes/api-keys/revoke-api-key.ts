import { isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { recordAudit } from "../../audit/record-audit.ts";
import type { IdentityChange } from "../../domain/identity-change.ts";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { revokeApiKey as markRevoked } from "../../store/api-keys.ts";
import { notifyIdentityChange } from "../../store/identity-changes.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const revokeApiKey = route({
  method: "DELETE",
  path: "/auth/api-keys/{keyId}",
  scope: "api_keys:write",
  bucket: "write",
  audit: "api_key.revoked",
  summary: "Revoke an API key",
  description: [
    "The key is refused at once here, and everywhere within seconds.",
    "There is no way back.",
  ],
  params: { keyId: "The key's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The key is revoked.", data: deletedSchema } },
  errors: ["NOT_FOUND"],
  handler: async (context, { params: { keyId } }) => {
    if (!isUuid(keyId)) throw notFound();
    const change: IdentityChange = { type: "api_key", id: keyId.toLowerCase() };
    await context.database.transaction(async (transaction) => {
      const revoked = await markRevoked(transaction, context.identity.companyId, keyId);
      if (revoked === null) throw notFound();
      await notifyIdentityChange(transaction, change);
      await recordAudit(transaction, context, {
        action: "api_key.revoked",
        resourceType: "api_key",
        resourceId: change.id,
        changes: { name: { from: revoked.name, to: null } },
      });
    });
    context.invalidateAccess(change);
    return { status: 200, data: { deleted: true } };
  },
});

function notFound(): AppError {
  return new AppError("NOT_FOUND", "API key not found");
}
