import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { isTerminal, RUN_STATUSES, RUN_TRANSITIONS } from "../src/domain/run-status.ts";
import type { RunStatus } from "../src/domain/run-status.ts";
import { acquireRuns } from "../src/store/load-runs.ts";
import { lockAcquired, heldRuns, writeCheckpoints } from "../src/store/write-journal.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  database = await openDatabase({
    connectionUri,
    role: "workflow_runs",
    applicationName: "test",
  });
});
afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

async function storeRun(status: RunStatus): Promise<string> {
  const id = newId("run_");
  await database.query(sql.type(z.object({}))`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input, status,
      created_at, completed_at
    )
    values (
      ${id}, ${newUuid()}, ${newUuid()}, ${newUuid()}, 1, 'api', '{}', ${status}, now(),
      case when ${isTerminal(status)} then now() end
    )
  `);
  return id;
}

/** Whether the checkpoint has changed the run. */
async function writeStatus(runId: string, status: RunStatus, fence = 0): Promise<boolean> {
  const completedAt = isTerminal(status) ? new Date() : null;
  const run = {
    status,
    startedAt: new Date(),
    completedAt,
    output: null,
    error: null,
    activeMs: 0,
    activeForMs: null,
  };
  const after = await database.oneFirst(sql.type(z.object({ entry: z.int() }))`
    select journal_entry as entry from runs.runs where id = ${runId}
  `);
  const [written] = await database.transaction((transaction) =>
    writeCheckpoints(transaction, heldRuns([runId]), [
      { lease: { runId, fence }, after, run, results: [], events: [] },
    ]),
  );
  return written?.changed ?? false;
}

async function statusOf(runId: string): Promise<string> {
  return database.oneFirst(sql.type(z.object({ status: z.string() }))`
    select status from runs.runs where id = ${runId}
  `);
}

describe("a checkpoint", () => {
  it("writes nothing for an execution whose run a later lease has acquired", async () => {
    const [mine, taken] = [await storeRun("running"), await storeRun("running")];
    const before = [mine, taken].map((runId) => ({ runId, fence: 1 }));
    const later = [{ runId: taken, fence: 2 }];
    expect(await acquireRuns(database, before)).toHaveLength(2);
    expect(await acquireRuns(database, later)).toHaveLength(1);
    // Nor does the earlier one get it back.
    const again = await acquireRuns(database, before);
    expect(again.map(({ id }) => id)).toEqual([mine]);
    const held = await database.transaction((transaction) => lockAcquired(transaction, before));
    expect(held).toEqual(new Set([mine]));
    expect(await writeStatus(taken, "suspended", 1)).toBe(false);
    expect(await statusOf(taken)).toBe("running");
    expect(await writeStatus(taken, "suspended", 2)).toBe(true);
  });

  it.each(RUN_STATUSES)(
    "takes a run from %s only where the table of transitions says",
    async (from) => {
      const legal: readonly RunStatus[] = RUN_TRANSITIONS[from];
      for (const to of RUN_STATUSES) {
        const runId = await storeRun(from);
        expect([to, await writeStatus(runId, to)]).toEqual([to, legal.includes(to)]);
        expect(await statusOf(runId)).toBe(legal.includes(to) ? to : from);
      }
    },
  );
});
