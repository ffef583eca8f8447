import { z } from "zod";
import { SESSION_LIFE_MS } from "../../auth/session-life.ts";
import { sessionCookie } from "../../http/session-cookie.ts";
import { signIn } from "../../identity/sign-in.ts";
import { NO_QUERY, openRoute } from "../../route.ts";
import { CREDENTIAL_BYTES_MAX, givenCompany, givenEmail, givenPassword } from "./session-fields.ts";
import { sessionJson } from "./session-json.ts";

export const createSession = openRoute({
  method: "POST",
  path: "/auth/session",
  bucket: "write",
  audit: ["session.created", "session.refused"],
  summary: "Sign in; the answer sets the session's cookie",
  admit: (context) => context.signIns.admitNetwork(context),
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      email: givenEmail,
      password: givenPassword,
      company: givenCompany.nullish(),
    }),
    bytesMax: CREDENTIAL_BYTES_MAX,
  },
  responses: { 200: "The session." },
  handler: async (context, { body: { email, password, company } }) => {
    const { database, signIns } = context;
    const request = { email, password, company: company ?? undefined };
    const { token, session } = await signIn(database, signIns, request, context);
    return {
      status: 200,
      data: sessionJson(session, session.companyId),
      cookie: sessionCookie(token, SESSION_LIFE_MS, context.isSecure),
    };
  },
});
