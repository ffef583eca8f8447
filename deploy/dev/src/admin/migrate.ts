import { migrateAll } from "../migrations.ts";
import type { Command } from "./command.ts";
import { withPostgres } from "./database.ts";

export const migrateCommand: Command = {
  summary: "Brings the schemas of all services up to date.",
  flags: {},
  async run(settings) {
    const applied = await withPostgres(settings, migrateAll);
    const lines = applied.map(({ schema, file }) => `${schema}: ${file}`);
    return {
      json: { applied },
      text: lines.length === 0 ? "Everything was up to date." : lines.join("\n"),
    };
  },
};
