import { createUser, ROLES } from "@workflow/service-gateway/admin";
import type { Command } from "./command.ts";
import { PASSWORD_FLAG } from "./command.ts";
import { withDatabase } from "./database.ts";

export const createUserCommand: Command = {
  summary: `Makes a user of a company, or adds one who is known, whose password stays; the role is one of ${ROLES.join(", ")}.`,
  flags: {
    company: { placeholder: "ID" },
    email: { placeholder: "EMAIL" },
    password: PASSWORD_FLAG,
    role: { placeholder: "ROLE" },
  },
  async run(settings, values) {
    const request = {
      companyId: values.text("company"),
      email: values.text("email"),
      password: values.text("password"),
      role: values.oneOf("role", ROLES),
    };
    const { userId, existing } = await withDatabase(settings, (database) =>
      createUser(database, request),
    );
    if (!existing) return { json: { userId }, text: `User  ${userId}` };
    return {
      json: { userId, existing },
      text: `User  ${userId} (was there before)`,
      warnings: [
        "This e-mail address had an account: it is a member now, its password is as it was. " +
          "Whoever knows that password has access to the company.",
      ],
    };
  },
};
