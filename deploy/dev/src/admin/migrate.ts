import { openDatabase } from "@workflow/db";
import type { AppliedMigration } from "@workflow/db";
import { recordAdminEvent } from "@workflow/service-gateway/admin";
import type { AdminEvent } from "@workflow/service-gateway/admin";
import { migrateAll } from "../migrations.ts";
import type { Command } from "./command.ts";
import { withPostgres } from "./database.ts";

export const migrateCommand: Command = {
  summary: "Brings the schemas of all services up to date.",
  flags: {},
  async run(settings) {
    const applied = await withPostgres(settings, async (connectionUri) => {
      const migrations = await migrateAll(connectionUri);
      if (migrations.length > 0) await record(connectionUri, migrations);
      return migrations;
    });
    const lines = applied.map(({ schema, file }) => `${schema}: ${file}`);
    return {
      json: { applied },
      text: lines.length === 0 ? "Everything was up to date." : lines.join("\n"),
    };
  },
};

/** Records as the owner of the tables, who may not be able to act as the gateway. */
async function record(
  connectionUri: string,
  migrations: readonly AppliedMigration[],
): Promise<void> {
  const database = await openDatabase({
    connectionUri,
    maxConnections: 1,
    applicationName: "admin",
  });
  try {
    await database.transaction((transaction) =>
      recordAdminEvent(transaction, ...migrations.map(toEvent)),
    );
  } finally {
    await database.end();
  }
}

function toEvent({ schema, file }: AppliedMigration): AdminEvent {
  return {
    companyId: null,
    action: "schema.migrated",
    resourceType: "schema",
    resourceId: schema,
    changes: { file: { from: null, to: file } },
  };
}
