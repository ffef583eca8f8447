import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { findServiceSchemas } from "./migrations.ts";

const PASSWORD_BYTES = 24;

/** The address at which a service signs in to Postgres, by the name of the service. */
export type DatabaseUrlOf = (service: string) => string;

/**
 * Lets each service sign in to the embedded Postgres as its own role, with a password that only this
 * run knows: a session that is asked to reset its role stays what it is. Passwords are made anew on
 * each start, so none is kept anywhere; Postgres itself keeps a SCRAM verifier.
 *
 * @param superuserUrl of the migrated database
 */
export async function openServiceLogins(superuserUrl: string): Promise<DatabaseUrlOf> {
  const urls = new Map<string, string>();
  const client = new Client({ connectionString: superuserUrl, application_name: "service-logins" });
  // A lost connection is also reported by the statement that was under way.
  client.on("error", () => {});
  try {
    await client.connect();
    // The server's log quotes statements that fail.
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
