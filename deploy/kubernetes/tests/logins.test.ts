import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { examineDatabase } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { Client } from "pg";
import { findServiceSchemas, migrateAll } from "../../dev/src/migrations.ts";
import { PARTS } from "../../dev/src/topology.ts";

/*
 * The way to production of README.md, with the files that it names: owner.sql, the migrations as the owner, and
 * the logins that make-secrets.sh has made.
 */

const TIMEOUT_MS = 240_000;
/** With every character that means something in a URL. */
const OWNER_PASSWORD = "a/b@c#d:e?f%g h";

let folder: string;
let postgres: LocalPostgres;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "logins-"));
  postgres = await startLocalPostgres({ dataDir: join(folder, "data"), durable: false });
}, TIMEOUT_MS);
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
}, TIMEOUT_MS);

async function run(uri: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A file for psql without its comments, as single statements. */
async function ownerStatements(): Promise<string[]> {
  const file = new URL("../../postgres/owner.sql", import.meta.url);
  const text = (await readFile(file, "utf8")).replaceAll(/^--.*$/gm, "");
  const statements = text.replaceAll(":password", `'${OWNER_PASSWORD}'`).split(";");
  return statements.map((each) => each.trim()).filter(Boolean);
}

describe("the logins of make-secrets.sh", () => {
  it(
    "may connect to a database that owner.sql has made, and what is missing is told until then",
    async () => {
      await run(postgres.connectionUri, await ownerStatements());
      const secrets = join(folder, "secrets");
      const script = fileURLToPath(new URL("../make-secrets.sh", import.meta.url));
      const { host } = new URL(postgres.connectionUri);
      await promisify(execFile)("sh", [script, secrets], {
        env: { ...process.env, POSTGRES: `${host}/workflow`, OWNER_PASSWORD },
      });
      const secretOf = async (name: string): Promise<string> =>
        (await readFile(join(secrets, "cluster", name, "DATABASE_URL"), "utf8")).trim();
      const owner = await secretOf("admin");
      await migrateAll(owner);
      const newest = new Map(
        (await findServiceSchemas()).map(({ schema, role }) => [schema, { schema, role }]),
      );
      const troubles = () =>
        Promise.all(
          PARTS.map(async ({ name, service }) => {
            const place = newest.get(service);
            if (place === undefined) throw new Error(`There is no schema ${service}.`);
            const needed = { ...place, connectionUri: await secretOf(name), migration: 1 };
            return (await examineDatabase(needed))?.message ?? null;
          }),
        );

      const logins = await readFile(join(secrets, "logins.sql"), "utf8");
      const withoutGrant = logins.split("\n").filter((line) => line.startsWith("alter role "));
      await run(owner, withoutGrant);
      expect(await troubles()).toEqual(
        PARTS.map(() => expect.stringContaining("its login may not connect to the database")),
      );
      await run(owner, [logins]);
      expect(await troubles()).toEqual(PARTS.map(() => null));
    },
    TIMEOUT_MS,
  );
});
