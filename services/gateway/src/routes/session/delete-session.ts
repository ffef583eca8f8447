import { recordAudit } from "../../audit/record-audit.ts";
import type { IdentityChange } from "../../domain/identity-change.ts";
import { endedSessionCookie } from "../../http/session-cookie.ts";
import { NO_BODY, NO_QUERY, sessionRoute } from "../../route.ts";
import { notifyIdentityChange } from "../../store/identity-changes.ts";
import { deleteSession as endSession } from "../../store/sessions.ts";
import { deletedSchema } from "../answer-schemas.ts";

export const deleteSession = sessionRoute({
  method: "DELETE",
  path: "/auth/session",
  bucket: "write",
  audit: "session.ended",
  summary: "Sign out",
  description: [
    "The session ends at once, and the cookie is taken back.",
    "Other sessions of the person go on.",
  ],
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: { description: "The session has ended.", data: deletedSchema, headers: ["Set-Cookie"] },
  },
  handler: async (context) => {
    const { id } = context.session;
    const change: IdentityChange = { type: "session", id };
    await context.database.transaction(async (transaction) => {
      if (!(await endSession(transaction, id))) return;
      await notifyIdentityChange(transaction, change);
      await recordAudit(transaction, context, {
        action: "session.ended",
        resourceType: "session",
        resourceId: id,
        changes: {},
      });
    });
    context.invalidateAccess(change);
    return { status: 200, data: { deleted: true }, cookie: endedSessionCookie(context.isSecure) };
  },
});
