import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { listen, newId, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import { pino } from "pino";
import {
  claimTasks,
  extendLeases,
  findTask,
  insertTasks,
  releaseLeases,
  settleTasks,
} from "../src/task-runtime/postgres-queries.ts";
import { createPostgresTaskRuntime } from "../src/task-runtime/postgres.ts";
import { describeTaskRuntime } from "./task-runtime-contract.ts";
import type { RuntimeFixture, RuntimeProcess } from "./support/task-workers.ts";

const ROLE = "workflow_runs";
const POLL_MS = 200;

describeTaskRuntime("the Postgres task runtime", createFixture);

async function createFixture(): Promise<RuntimeFixture> {
  const testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  const open = (): Promise<Database> =>
    openDatabase({ connectionUri, role: ROLE, applicationName: "test", maxConnections: 3 });
  const database = await open();
  const cutOffs: (() => Promise<void>)[] = [];
  return {
    database,
    async open({ leaseMs }): Promise<RuntimeProcess> {
      const own = await open();
      let ended: Promise<void> | undefined;
      const cutOff = (): Promise<void> => (ended ??= own.end());
      cutOffs.push(cutOff);
      const runtime = createPostgresTaskRuntime({
        database: own,
        logger: pino({ level: process.env["TEST_LOG_LEVEL"] ?? "silent" }),
        leaseMs,
        pollMs: POLL_MS,
        listen: (options) =>
          listen({ ...options, channels: [...options.channels], connectionUri, role: ROLE }),
      });
      return { runtime, cutOff };
    },
    async close() {
      await Promise.all(cutOffs.map((cutOff) => cutOff()));
      await database.end();
      await testDatabase.close();
    },
  };
}

let fixture: RuntimeFixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

it("a late heartbeat and a late release leave a task alone that was parked meanwhile", async () => {
  const { database } = fixture;
  const lease = await claimOne(database);
  await settle(database, lease, new Date(Date.now() + 3_600_000));
  expect(await extendLeases(database, [lease], 1)).toEqual([]);
  await releaseLeases(database, [lease], 0);
  expect(await findTask(database, lease.runId)).toEqual({ worker_id: null, due: false });
});

it("a heartbeat does not wait for a task that is being settled, and takes its lease as held", async () => {
  const { database } = fixture;
  const lease = await claimOne(database);
  const locked = Promise.withResolvers<void>();
  const extended = Promise.withResolvers<void>();
  const settling = database.transaction(async (transaction) => {
    await settleTasks(transaction, [{ ...lease, next: "keep", wakeAt: null }], 60_000);
    locked.resolve();
    await extended.promise;
  });
  await locked.promise;
  expect(await extendLeases(database, [lease], 60_000)).toEqual([lease.runId]);
  extended.resolve();
  await settling;
});

it("a claim tells when the next task is due, also when it found some", async () => {
  const { database } = fixture;
  const parked = await claimOne(database);
  await settle(database, parked, new Date(Date.now() + 30_000));
  await database.transaction((transaction) => insertTasks(transaction, [newId("run_")]));
  const { tasks, nextDueInMs } = await claimTasks(database, {
    workerId: "another",
    leaseMs: 600_000,
    limit: 10,
  });
  expect(tasks).toHaveLength(1);
  expect(nextDueInMs).toBeGreaterThan(0);
  expect(nextDueInMs).toBeLessThanOrEqual(30_000);
});

async function claimOne(database: Database) {
  await database.transaction((transaction) => insertTasks(transaction, [newId("run_")]));
  const { tasks } = await claimTasks(database, { workerId: "test", leaseMs: 600_000, limit: 1 });
  const [task] = tasks;
  if (task === undefined) throw new Error("nothing was claimed");
  return task;
}

function settle(database: Database, lease: { runId: string; fence: number }, wakeAt: Date) {
  return database.transaction((transaction) =>
    settleTasks(transaction, [{ ...lease, next: "park", wakeAt }], 60_000),
  );
}
