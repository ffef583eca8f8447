import { Client } from "pg";

/** Whether a server answers at this address and accepts the password. */
export async function accepts(connectionUri: string): Promise<boolean> {
  const client = new Client({
    connectionString: connectionUri,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  });
  // A connection that breaks in between reports the error here a second time.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
