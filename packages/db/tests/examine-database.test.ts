import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { examineDatabase } from "@workflow/db";
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
