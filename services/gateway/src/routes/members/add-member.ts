import { z } from "zod";
import { emailInput, nameInput, passwordInput, roleInput } from "../../admin/inputs.ts";
import { addMember as addPerson } from "../../identity/add-member.ts";
import { NO_QUERY, route } from "../../route.ts";
import { memberJson } from "./member-json.ts";

export const addMember = route({
  method: "POST",
  path: "/members",
  scope: "api_keys:write",
  bucket: "write",
  audit: "member.added",
  summary: "Add a person to the company",
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      email: emailInput,
      name: nameInput.optional(),
      password: passwordInput,
      role: roleInput,
    }),
  },
  responses: { 201: "The member." },
  handler: async (context, { body }) => {
    const { database, identity } = context;
    const request = { ...body, companyId: identity.companyId };
    return { status: 201, data: memberJson(await addPerson(database, request, context)) };
  },
});
