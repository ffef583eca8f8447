import { createApiKey, SCOPES } from "@workflow/service-gateway/admin";
import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";

export const createApiKeyCommand: Command = {
  summary: `Makes an API key of a company; scopes are ${SCOPES.join(", ")}.`,
  flags: {
    company: { placeholder: "ID" },
    name: { placeholder: "NAME" },
    scopes: { placeholder: "SCOPE,…" },
  },
  async run(settings, values) {
    const request = {
      companyId: values.text("company"),
      name: values.text("name"),
      scopes: values.listOf("scopes", SCOPES),
    };
    const { id, key } = await withDatabase(settings, (database) => createApiKey(database, request));
    return { json: { id, key }, text: `Id       ${id}\nAPI key  ${key} (shown only now)` };
  },
};
