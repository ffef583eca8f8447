import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    applicationName: "test",
  });
});
afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

it("gives each database a cursor key of its own, of 32 bytes", async () => {
  const size = await database.oneFirst(sql.unsafe`select length(key) from workflows.cursor_key`);
  expect(size).toBe(32);
});
