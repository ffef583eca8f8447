import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { findServiceSchemas } from "./migrations.ts";

const PASSWORD_BYTES = 24;

/** The Postgres address with which a service signs in, by the service's name. */
export type DatabaseUrlOf = (service: string) => string;

/**
 * Gives each service a login for the embedded Postgres: its own role, with a password that only this run knows. A
 * session that resets its role stays that role. Passwords are new at each start and kept nowhere; Postgres keeps a
 * SCRAM verifier.
 * @param superuserUrl the address of the migrated database
 */
export async function openServiceLogins(superuserUrl: string): Promise<DatabaseUrlOf> {
  const urls = new Map<string, string>();
  const client = new Client({ connectionString: superuserUrl, application_name: "service-logins" });
  // The statement under way also reports a lost connection.
  client.on("error", () => {});
  try {
    await client.connect();
    // The server's log would quote failing statements, passwords included.
    await client.query("set log_min_error_statement = panic");
    for (const { schema, role } of await findServiceSchemas()) {
      const password = randomBytes(PASSWORD_BYTES).toString("base64url");
      await client.query(`alter role ${role} login password '${password}'`);
      urls.set(schema, loginUrl(superuserUrl, role, password));
    }
  } finally {
    await client.end().catch(() => {});
  }
  return (service) => {
    const url = urls.get(service);
    if (url === undefined) throw new Error(`The service ${service} has no tables to sign in for.`);
    return url;
  };
}

function loginUrl(superuserUrl: string, role: string, password: string): string {
  const url = new URL(superuserUrl);
  url.username = role;
  url.password = password;
  return url.toString();
}
