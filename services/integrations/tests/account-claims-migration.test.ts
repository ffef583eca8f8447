import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { migrate, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import { z } from "zod";

const MIGRATIONS = join(import.meta.dirname, "../migrations");
const CLAIMS = "0014";
const nothing = z.object({});

const scope = createScope();
let database: Database;
let connectionUri: string;

const migrateFrom = (directory: string) =>
  migrate({
    connectionUri,
    services: [{ schema: "integrations", role: "workflow_integrations", directory }],
  });

beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  scope.defer(() => testDatabase.close());
  ({ connectionUri } = testDatabase);
  database = await openDatabase({ connectionUri, applicationName: "test" });
  scope.defer(() => database.end());
  const before = await mkdtemp(join(tmpdir(), "migrations-"));
  scope.defer(() => rm(before, { recursive: true }));
  for (const file of await readdir(MIGRATIONS)) {
    if (file < CLAIMS) await cp(join(MIGRATIONS, file), join(before, file));
  }
  await database.query(sql.type(nothing)`drop schema integrations cascade`);
  await migrateFrom(before);
});
afterAll(() => scope.close());

/** Stores a connection as the version before does, which knows no claims. */
async function insert(id: string, account: string | null, more: object = {}): Promise<void> {
  const { provider, status } = { provider: "finance", status: "active", ...more };
  await database.query(sql.type(nothing)`
    insert into integrations.connections (
      id, company_id, name, provider, status, external_account_id
    )
    values (${id}, ${newUuid()}, 'Ledger', ${provider}, ${status}, ${account})
  `);
}

it("of an account that several connections have the oldest keeps it, and nothing else changes", async () => {
  await insert("conn_0", "acct_twice", { status: "disconnected" });
  await insert("conn_1", "acct_twice");
  await insert("conn_2", "acct_twice", { status: "error" });
  await insert("conn_3", "acct_twice");
  await insert("conn_4", "acct_once");
  await insert("conn_5", "acct_ended", { status: "disconnected" });
  await insert("conn_6", "acct_ended", { status: "disconnected" });
  await insert("conn_7", null);
  await insert("conn_8", "acct_twice", { provider: "stripe" });
  await insert("conn_9", "acct_twice", { provider: "stripe" });
  await migrateFrom(MIGRATIONS);
  const row = z.object({ id: z.string(), account: z.string().nullable(), claimed: z.boolean() });
  const rows = await database.any(sql.type(row)`
    select id, external_account_id as account, account_claimed as claimed
    from integrations.connections order by id
  `);
  expect(rows.map(({ id, account, claimed }) => [id, account, claimed])).toEqual([
    ["conn_0", null, false],
    ["conn_1", "acct_twice", true],
    ["conn_2", null, false],
    ["conn_3", null, false],
    ["conn_4", "acct_once", true],
    ["conn_5", "acct_ended", false],
    ["conn_6", "acct_ended", false],
    ["conn_7", null, false],
    ["conn_8", "acct_twice", false],
    ["conn_9", "acct_twice", false],
  ]);
  // During an upgrade the version before still stores; it may not fail.
  await insert("conn_later", "acct_once");
});
