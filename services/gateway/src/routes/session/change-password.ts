import { z } from "zod";
import { passwordInput } from "../../identity/inputs.ts";
import { changePassword as replacePassword } from "../../identity/change-password.ts";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { CREDENTIAL_BYTES_MAX, givenPassword } from "./session-fields.ts";

export const changePassword = sessionRoute({
  method: "POST",
  path: "/auth/password",
  bucket: "write",
  audit: "password.changed",
  summary: "Change the own password",
  description: [
    "The current password has to be right; it is guessed at ten times a minute at most.",
    "All other sessions of the person end, this one goes on.",
    "API keys stay as they are.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      currentPassword: givenPassword.describe("The password until now."),
      newPassword: passwordInput.describe("8 to 256 characters of any kind.").meta({
        format: "password",
        minLength: 8,
        maxLength: 256,
        examples: ["correct horse battery staple"],
      }),
    }),
    bytesMax: CREDENTIAL_BYTES_MAX,
  },
  responses: {
    200: {
      description: "The password is changed.",
      data: z.strictObject({ changed: z.literal(true) }),
    },
  },
  errors: ["CONFLICT"],
  handler: async (context, { body }) => {
    const { database, session, invalidateAccess } = context;
    await replacePassword(database, session, body, context);
    invalidateAccess({ type: "user", id: session.userId });
    return { status: 200, data: { changed: true } };
  },
});
