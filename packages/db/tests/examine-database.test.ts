import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { databaseErrorToAppError, examineDatabase, openDatabase, sql } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.close());

function examine(aheadMs: number) {
  const { connectionUri } = testDatabase;
  const needed = { connectionUri, role: "workflow_tables", schema: "tables", migration: 1 };
  return examineDatabase(needed, () => Date.now() + aheadMs);
}

describe("a process whose clock is set off", () => {
  it.each([
    ["ahead of", 300_000],
    ["behind", -300_000],
  ])("is told that it is %s Postgres, and does not start", async (how, offMs) => {
    const trouble = await examine(offMs);
    expect(trouble?.message).toMatch(
      new RegExp(`^the clock of this machine is \\d+ s ${how} that of Postgres$`),
    );
    // Those that run go on.
    expect(trouble?.isOnlyForNewcomers).toBe(true);
  });

  it.each([0, 10_000, -10_000])("by %d ms starts all the same", async (offMs) => {
    expect(await examine(offMs)).toBeNull();
  });
});

describe("a statement that found no room on the disk", () => {
  it("is told of for its own database, and keeps those that start waiting only", async () => {
    const full = await createTestDatabase();
    const { connectionUri } = full;
    const database = await openDatabase({ connectionUri, applicationName: "test" });
    try {
      const needed = { connectionUri, role: "workflow_tables", schema: "tables", migration: 1 };
      expect(await examineDatabase(needed)).toBeNull();
      // The server's own error of a full disk.
      const refused = database.query(sql.unsafe`
        do $$ begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$
      `);
      expect(await refused.catch(databaseErrorToAppError)).toMatchObject({
        reason: "UNAVAILABLE",
        retryAfterMs: expect.any(Number),
      });
      expect(await examineDatabase(needed)).toEqual({
        message: "the disk of Postgres is full: a write found no room",
        isOnlyForNewcomers: true,
      });
      expect(await examine(0)).toBeNull();
    } finally {
      await database.end();
      await full.close();
    }
  });
});
