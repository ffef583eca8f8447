import { z } from "zod";
import { emailInput, nameInput, passwordInput, roleInput } from "../../identity/inputs.ts";
import { addMember as addPerson } from "../../identity/add-member.ts";
import { NO_QUERY, route } from "../../route.ts";
import { memberJson } from "./member-json.ts";
import { memberSchema } from "./member-schema.ts";

export const addMember = route({
  method: "POST",
  path: "/members",
  scope: "api_keys:write",
  bucket: "write",
  audit: "member.added",
  summary: "Add a person to the company",
  description: [
    "A new person gets an account with the password that is given here.",
    "Whoever has an account already is invited, and accepts with that password; the answer is the same.",
    "Only a signed-in owner may make an owner, else FORBIDDEN.",
    "A company that is full is refused with BAD_REQUEST, a member already with CONFLICT.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      email: emailInput.describe("Kept in lower case.").meta({ examples: ["ada@example.com"] }),
      name: nameInput
        .optional()
        .describe("1 to 255 characters; the e-mail address by default.")
        .meta({ maxLength: 255, examples: ["Ada"] }),
      password: passwordInput
        .describe(
          "8 to 256 characters, to be handed over: the first password, or what accepts the invitation of a person with an account.",
        )
        .meta({
          format: "password",
          minLength: 8,
          maxLength: 256,
          examples: ["correct horse battery staple"],
        }),
      role: roleInput
        .describe("What the person is to be; none with scopes that the caller lacks.")
        .meta({ examples: ["member"] }),
    }),
  },
  responses: { 201: { description: "The member.", data: memberSchema } },
  errors: ["CONFLICT"],
  handler: async (context, { body }) => {
    const { database, identity } = context;
    const request = { ...body, companyId: identity.companyId };
    return { status: 201, data: memberJson(await addPerson(database, request, context)) };
  },
});
