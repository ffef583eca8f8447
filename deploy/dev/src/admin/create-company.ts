import { createCompany } from "@workflow/service-gateway/admin";
import type { Command } from "./command.ts";
import { PASSWORD_FLAG } from "./command.ts";
import { withDatabase } from "./database.ts";

export const createCompanyCommand: Command = {
  summary: "Makes a company with an owner and an API key that has all scopes.",
  flags: {
    name: { placeholder: "NAME" },
    email: { placeholder: "EMAIL" },
    password: PASSWORD_FLAG,
  },
  async run(settings, values) {
    const request = {
      name: values.text("name"),
      email: values.text("email"),
      password: values.text("password"),
    };
    const { companyId, userId, apiKey } = await withDatabase(settings, (database) =>
      createCompany(database, request),
    );
    return {
      json: { companyId, userId, apiKey },
      text: `Company  ${companyId}\nOwner    ${userId}\nAPI key  ${apiKey} (shown only now)`,
    };
  },
};
