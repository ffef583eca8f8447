import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { dumpSchema, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    maxConnections: 1,
    applicationName: "gateway-test",
  });
});

afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

it("the migrations lead to what schema.sql says", async () => {
  const file = new URL("../schema.sql", import.meta.url);
  expect(await dumpSchema(database, "gateway")).toBe(await readFile(file, "utf8"));
});
