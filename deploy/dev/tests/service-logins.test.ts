import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { Client } from "pg";
import { migrateAll } from "../src/migrations.ts";
import { openServiceLogins } from "../src/service-logins.ts";
import type { DatabaseUrlOf } from "../src/service-logins.ts";
import { cleanUp, temporaryFolder } from "./support/system.ts";

const SERVICES = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"];
const INSUFFICIENT_PRIVILEGE = "42501";
const WRONG_PASSWORD = "28P01";

let postgres: LocalPostgres;
let databaseUrlOf: DatabaseUrlOf;

beforeAll(async () => {
  const dataDir = join(await temporaryFolder(), "data");
  postgres = await startLocalPostgres({ dataDir, durable: false });
  await migrateAll(postgres.connectionUri);
  databaseUrlOf = await openServiceLogins(postgres.connectionUri);
});

afterAll(async () => {
  await postgres.stop();
  await cleanUp();
});

/** Runs statements one after the other in one session. */
async function inSession<Result>(
  url: string,
  work: (query: (text: string) => Promise<unknown[]>) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(async (text) => (await client.query<object>(text)).rows);
  } finally {
    await client.end();
  }
}

describe("the session of a service", () => {
  it.each(SERVICES)("of %s is its own role and can become nobody else", async (service) => {
    const role = `workflow_${service}`;
    const who = "select session_user::text as session, current_user::text as current";
    await inSession(databaseUrlOf(service), async (query) => {
      expect(await query(who)).toEqual([{ session: role, current: role }]);
      await query("reset role");
      await query("reset session authorization");
      expect(await query(who)).toEqual([{ session: role, current: role }]);

      const others = SERVICES.filter((name) => name !== service).map((name) => `workflow_${name}`);
      for (const other of ["postgres", ...others]) {
        for (const statement of [`set role ${other}`, `set session authorization ${other}`]) {
          await expect(query(statement)).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
        }
      }
      const rights = `select rolsuper or rolcreaterole or rolcreatedb or rolreplication
        or rolbypassrls as any_right from pg_roles where rolname = current_user`;
      expect(await query(rights)).toEqual([{ any_right: false }]);
    });
  });

  it.each(SERVICES)("of %s reads its own schema and no other", async (service) => {
    await inSession(databaseUrlOf(service), async (query) => {
      for (const schema of SERVICES) {
        const reading = query(`select number from ${schema}.schema_migrations limit 1`);
        if (schema === service) await expect(reading).resolves.toHaveLength(1);
        else await expect(reading).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
      }
    });
  });

  it("is not opened with the password of another service, nor with that of an earlier run", async () => {
    const url = new URL(databaseUrlOf("runs"));
    url.password = new URL(databaseUrlOf("tables")).password;
    const signIn = () => inSession(url.toString(), (query) => query("select 1"));
    await expect(signIn()).rejects.toMatchObject({ code: WRONG_PASSWORD });

    const earlier = databaseUrlOf("runs");
    databaseUrlOf = await openServiceLogins(postgres.connectionUri);
    await expect(inSession(earlier, (query) => query("select 1"))).rejects.toMatchObject({
      code: WRONG_PASSWORD,
    });
  });
});
