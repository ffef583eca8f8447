import { createUser, ROLES } from "@workflow/service-gateway/admin";
import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";

export const createUserCommand: Command = {
  summary: `Makes a user of a company; the role is one of ${ROLES.join(", ")}.`,
  flags: {
    company: { placeholder: "ID" },
    email: { placeholder: "EMAIL" },
    password: { placeholder: "PASSWORD" },
    role: { placeholder: "ROLE" },
  },
  async run(settings, values) {
    const request = {
      companyId: values.text("company"),
      email: values.text("email"),
      password: values.text("password"),
      role: values.oneOf("role", ROLES),
    };
    const { userId } = await withDatabase(settings, (database) => createUser(database, request));
    return { json: { userId }, text: `User  ${userId}` };
  },
};
