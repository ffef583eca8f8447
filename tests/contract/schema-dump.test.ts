import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { dumpSchema, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";

const SERVICES = new URL("../../services/", import.meta.url);
const names = (await readdir(SERVICES)).filter((name) =>
  existsSync(new URL(`${name}/migrations`, SERVICES)),
);

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  database = await openDatabase({ connectionUri, applicationName: "test" });
});
afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

describe("schema.sql is the dump of the migrated schema", () => {
  it.each(names)("of %s", async (name) => {
    const file = new URL(`${name}/schema.sql`, SERVICES);
    const dump = await dumpSchema(database, name);
    // `UPDATE_SCHEMA=1 npm test -- tests/contract/schema-dump` renews the files after a migration.
    if (process.env["UPDATE_SCHEMA"] === "1") await writeFile(file, dump);
    expect(await readFile(file, "utf8")).toBe(dump);
  });
});
