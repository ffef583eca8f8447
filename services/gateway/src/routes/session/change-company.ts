import { z } from "zod";
import { SESSION_LIFE_MS } from "../../domain/session-life.ts";
import { sessionCookie, sessionTokenOf } from "../../http/session-cookie.ts";
import { changeCompany as enterCompany } from "../../identity/change-company.ts";
import { NO_QUERY, sessionRoute } from "../../route.ts";
import { listOwnCompanies } from "../../store/users.ts";
import { CREDENTIAL_BYTES_MAX, givenCompany, givenPassword } from "./session-fields.ts";
import { companyJson, sessionJson } from "./session-json.ts";
import { ownSessionSchema } from "./session-schema.ts";

export const changeCompany = sessionRoute({
  method: "PUT",
  path: "/auth/session",
  bucket: "write",
  audit: ["session.ended", "session.created", "member.joined"],
  summary: "Change over to another company",
  description: [
    "The answer sets a new cookie, and the old one is refused from then on.",
    "Role and scopes are those of the other company.",
    "An invitation is accepted with the password that the company gave.",
    "A company that the person is no member of is NOT_FOUND.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      company: givenCompany.describe("The id of one of the person's companies."),
      invitationPassword: givenPassword
        .nullish()
        .describe("What the company has handed over; needed once, to accept its invitation."),
    }),
    bytesMax: CREDENTIAL_BYTES_MAX,
  },
  responses: {
    200: {
      description: "The session, now of that company.",
      data: ownSessionSchema,
      headers: ["Set-Cookie"],
    },
  },
  errors: ["NOT_FOUND"],
  handler: async (context, { body: { company, invitationPassword } }) => {
    const { database, session, invalidateAccess } = context;
    const token = sessionTokenOf(context) ?? "";
    const change = { session, token, company, invitationPassword: invitationPassword ?? undefined };
    const changed = await enterCompany(database, change, context);
    invalidateAccess({ type: "session", id: session.id });
    const companies = await listOwnCompanies(database, session);
    return {
      status: 200,
      data: {
        ...sessionJson(changed.session, changed.session.companyId),
        companies: companies.map(companyJson),
      },
      cookie: sessionCookie(changed.token, SESSION_LIFE_MS, context.isSecure),
    };
  },
});
