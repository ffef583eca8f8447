import { Client } from "pg";

/** Runs one statement on a connection of its own. */
export async function runAsAdmin(adminUri: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: adminUri, application_name: "testkit" });
  // A lost connection is also reported by the statement that was under way.
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
