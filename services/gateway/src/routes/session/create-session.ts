import { z } from "zod";
import { SESSION_LIFE_MS } from "../../domain/session-life.ts";
import { sessionCookie } from "../../http/session-cookie.ts";
import { signIn } from "../../identity/sign-in.ts";
import { NO_QUERY, openRoute } from "../../route.ts";
import { CREDENTIAL_BYTES_MAX, givenCompany, givenEmail, givenPassword } from "./session-fields.ts";
import { sessionJson } from "./session-json.ts";
import { sessionSchema } from "./session-schema.ts";

export const createSession = openRoute({
  method: "POST",
  path: "/auth/session",
  bucket: "write",
  audit: ["session.created", "session.refused"],
  summary: "Sign in",
  description: [
    "The answer sets the cookie `wfs_session`, which is HttpOnly and SameSite=Lax.",
    "Unknown person, wrong password and wrong company are the same UNAUTHORIZED.",
    "Too many tries are refused with RATE_LIMITED, of an address, a network or an account.",
    "Pages of other sites are refused with FORBIDDEN.",
    "A session ends after 12 hours without use, and after seven days in any case.",
  ],
  admit: (context) => context.signIns.admitNetwork(context),
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      email: givenEmail,
      password: givenPassword.describe("The person's password."),
      company: givenCompany
        .nullish()
        .describe("The id of the company to sign in to; by default the one used last."),
    }),
    bytesMax: CREDENTIAL_BYTES_MAX,
  },
  responses: { 200: { description: "The session.", data: sessionSchema, headers: ["Set-Cookie"] } },
  errors: ["UNAUTHORIZED", "FORBIDDEN", "RATE_LIMITED"],
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
