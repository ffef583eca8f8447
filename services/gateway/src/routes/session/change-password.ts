import { z } from "zod";
import { passwordInput } from "../../admin/inputs.ts";
import { changePassword as replacePassword } from "../../identity/change-password.ts";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { CREDENTIAL_BYTES_MAX, givenPassword } from "./session-fields.ts";

export const changePassword = sessionRoute({
  method: "POST",
  path: "/auth/password",
  bucket: "write",
  audit: "password.changed",
  summary: "Change one's password; all other sessions end",
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({ currentPassword: givenPassword, newPassword: passwordInput }),
    bytesMax: CREDENTIAL_BYTES_MAX,
  },
  responses: { 200: "The password is changed." },
  handler: async (context, { body }) => {
    const { database, session, forget } = context;
    await replacePassword(database, session, body, context);
    forget({ type: "user", id: session.userId });
    return { status: 200, data: { changed: true } };
  },
});
