import { Client } from "pg";

/** Runs one statement on a connection of its own. */
export async function runAsAdmin(adminUri: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: adminUri, application_name: "testkit" });
  // The statement under way also reports a lost connection.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The same server and user, another database. */
export function withDatabase(connectionUri: string, database: string): string {
  const uri = new URL(connectionUri);
  uri.pathname = `/${database}`;
  return uri.toString();
}
