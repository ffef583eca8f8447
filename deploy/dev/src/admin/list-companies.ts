import { listCompanies } from "@workflow/service-gateway/admin";
import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";

export const listCompaniesCommand: Command = {
  summary: "Lists all companies, the oldest first.",
  flags: {},
  async run(settings) {
    const companies = await withDatabase(settings, (database) => listCompanies(database));
    const lines = companies.map(({ id, name, owners }) => `${id}  ${name} (${owners.join(", ")})`);
    return {
      json: { companies },
      text: lines.length === 0 ? "There is no company." : lines.join("\n"),
    };
  },
};
