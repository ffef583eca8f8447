import { afterAll, describe, expect, it } from "@jest/globals";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { Client } from "pg";

const opened: TestDatabase[] = [];

afterAll(async () => {
  for (const database of opened) await database.close();
});

async function open(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  opened.push(database);
  return database;
}

async function query(connectionUri: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: connectionUri });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe("createTestDatabase", () => {
  it("gives each caller a database of its own, also when many ask at once", async () => {
    const databases = await Promise.all(Array.from({ length: 8 }, open));
    expect(new Set(databases.map((database) => database.connectionUri)).size).toBe(8);
    const [one, other] = databases;
    await query(one?.connectionUri ?? "", "create table mine (id integer)");
    await expect(query(other?.connectionUri ?? "", "select from mine")).rejects.toMatchObject({
      code: "42P01",
    });
  });

  it("drops the database on close, even while a session is open", async () => {
    const database = await open();
    const client = new Client({ connectionString: database.connectionUri });
    client.on("error", () => {});
    await client.connect();
    await database.close();
    await expect(query(database.connectionUri, "select 1")).rejects.toMatchObject({
      code: "3D000",
    });
    await client.end();
  });
});
