import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { listen, newId, newUuid, openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase, waitFor } from "@workflow/testkit";
import { pino } from "pino";
import { claimTasks } from "../src/task-runtime/claim-tasks.ts";
import type { ClaimRequest } from "../src/task-runtime/claim-tasks.ts";
import { ClaimLoop } from "../src/task-runtime/claim-loop.ts";
import type { Lease, WorkerOptions } from "../src/task-runtime/port.ts";
import { PostgresWorker } from "../src/task-runtime/postgres-worker.ts";
import {
  deleteTasks,
  disownTasks,
  extendLeases,
  findTask,
  giveBackLeases,
  insertTasks,
  settleTasks,
} from "../src/task-runtime/postgres-queries.ts";
import type { Platform } from "../src/task-runtime/runtime.ts";
import { createPostgresTaskRuntime } from "../src/task-runtime/postgres.ts";
import { startTestWorker } from "./support/task-workers.ts";
import type { RuntimeFixture, RuntimeProcess, TestWorker } from "./support/task-workers.ts";
import { describeTaskRuntime } from "./task-runtime-contract/index.ts";

const ROLE = "workflow_runs";
const POLL_MS = 200;
/** Smaller than every company's id. */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

interface PostgresFixture extends RuntimeFixture<Platform> {
  database: Database;
}

describeTaskRuntime("the Postgres task runtime", createFixture);

async function createFixture(): Promise<PostgresFixture> {
  const testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  const open = (): Promise<Database> =>
    openDatabase({ connectionUri, role: ROLE, applicationName: "test", maxConnections: 3 });
  const database = await open();
  const cutOffs: (() => Promise<void>)[] = [];
  return {
    database,
    transaction: (work) => database.transaction(work),
    async open({ leaseMs }): Promise<RuntimeProcess<Platform>> {
      const own = await open();
      let ended: Promise<void> | undefined;
      const cutOff = (): Promise<void> => (ended ??= own.end());
      cutOffs.push(cutOff);
      const runtime = createPostgresTaskRuntime({
        database: own,
        workerDatabase: own,
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

let fixture: PostgresFixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

it("takes from what executions return what no transaction of theirs has settled", async () => {
  const process = await fixture.open({ leaseMs: 60_000 });
  const { runtime } = process;
  const apart: RuntimeProcess<Platform> = {
    ...process,
    runtime: {
      ...runtime,
      async startWorker(options) {
        const worker = await runtime.startWorker(options);
        return {
          begin: (leases) => worker.begin(leases),
          progressed: (leases) => worker.progressed(leases),
          stop: () => worker.stop(),
        };
      },
    },
  };
  const worker: TestWorker<Platform> = await startTestWorker(
    apart,
    fixture,
    { concurrency: 5, over: new AbortController().signal },
    ({ lease, settle }) =>
      settle(
        worker.leases.length === 1 ? { lease, next: "park", forMs: 100 } : { lease, next: "done" },
      ),
  );
  const runId = newId("run_");
  const begun = runtime.dispatch([{ runId, companyId: newUuid() }]);
  await fixture.transaction((transaction) => begun.write(transaction, [runId]));
  begun.committed(new Set([runId]));
  await waitFor(async () => (await runtime.findStatus(runId)) === null);
  expect(worker.leases.map(({ takeovers }) => takeovers)).toEqual([0, 0]);
  await worker.runtimeWorker.stop();
});

it("a late heartbeat and a late release leave a task alone that was parked meanwhile", async () => {
  const { database } = fixture;
  const lease = await claimOne(database);
  await settle(database, lease, 3_600_000);
  expect(await extendLeases(database, [lease], 1)).toEqual([]);
  await giveBackLeases(database, [lease], 0);
  expect(await findTask(database, lease.runId)).toEqual({ workerId: null, due: false });
});

it("a heartbeat does not wait for a task that is being settled, and takes its lease as held", async () => {
  const { database } = fixture;
  const lease = await claimOne(database);
  const locked = Promise.withResolvers<void>();
  const extended = Promise.withResolvers<void>();
  const settling = database.transaction(async (transaction) => {
    await settleTasks(transaction, [{ ...lease, next: "keep", forMs: null }], 60_000);
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
  await settle(database, parked, 30_000);
  await insertTask(database);
  const { tasks, nextDueInMs } = await claimTasks(database, claimOf("another", 10));
  expect(tasks).toHaveLength(1);
  expect(nextDueInMs).toBeGreaterThan(0);
  expect(nextDueInMs).toBeLessThanOrEqual(30_000);
});

it.each([16, 64, 200])(
  "a claim of %i gives two companies half each, though one has all the oldest tasks (D57)",
  async (limit) => {
    const { database } = fixture;
    const [older, newer] = [newUuid(), newUuid()];
    const olderIds = await insertTasksOf(database, older, 300);
    const newerIds = await insertTasksOf(database, newer, 150);
    const first = { ...claimOf("wide", limit), companiesAfter: NO_COMPANY };
    const { tasks } = await claimTasks(database, first);
    const countOf = (companyId: string): number =>
      tasks.filter((task) => task.companyId === companyId).length;
    // Another test may have left a task or two, which have their turn as well.
    expect(countOf(older) + countOf(newer)).toBeGreaterThan(limit - 6);
    expect(Math.abs(countOf(older) - countOf(newer))).toBeLessThanOrEqual(1);
    await database.transaction((transaction) =>
      deleteTasks(transaction, [...olderIds, ...newerIds]),
    );
  },
);

it("a claim whose answer was lost is given back and counts as no take-over", async () => {
  const { database } = fixture;
  await insertTask(database);
  const known = await claimOne(database, "deaf");
  const unheard = await claimOne(database, "deaf");
  await disownTasks(database, "deaf", [known.runId]);
  expect(await findTask(database, known.runId)).toMatchObject({ workerId: "deaf" });
  const { tasks } = await claimTasks(database, claimOf("another", 10));
  const again = tasks.find(({ runId }) => runId === unheard.runId);
  expect(again).toMatchObject({ fence: unheard.fence + 1, takeovers: 0 });
});

it("a worker gives back what it claims while it is stopped", async () => {
  const { database } = fixture;
  const runId = await insertTask(database);
  const worker = newWorker((leases, finished) => {
    for (const lease of leases) finished(lease, { next: "release" });
  });
  worker.announce();
  await worker.stop();
  expect(await findTask(database, runId)).toEqual({ workerId: null, due: true });
  await database.transaction((transaction) => deleteTasks(transaction, [runId]));
});

it("a lease that is lost before the execution begins is aborted, though no word came of it", async () => {
  const { database } = fixture;
  const leases: Lease[] = [];
  const worker = newWorker((claimed, finished) => {
    leases.push(...claimed);
    for (const lease of claimed) {
      lease.signal.addEventListener("abort", () => finished(lease, { next: "release" }));
    }
  });
  const runId = await insertTask(database);
  worker.announce();
  const lease = await waitFor(() => leases.find((each) => each.runId === runId) ?? null);
  await database.transaction((transaction) => deleteTasks(transaction, [runId]));
  expect(await worker.begin([lease])).toEqual(new Set());
  expect(lease.signal.aborted).toBe(true);
  await worker.stop();
});

it("nothing is claimed before that is given back which a lost claim took", async () => {
  const calls: string[] = [];
  const claimLoop = new ClaimLoop({
    free: () => 1,
    freeForGuests: () => 0,
    isMostlyFree: () => true,
    claim: async () => {
      calls.push("claim");
      if (calls.length === 1) throw new Error("the answer is lost");
      return { tasks: [], nextDueInMs: null, crowded: false, lastCompanyId: null };
    },
    begin: () => {},
    onBehind: () => {},
    onFailure: async () => {
      // Longer than the pause before the next claim.
      await sleep(800);
      calls.push("given back");
    },
    pollMs: POLL_MS,
    logger: pino({ level: "silent" }),
  });
  claimLoop.announce();
  await waitFor(() => calls.length >= 3);
  await claimLoop.stop();
  expect(calls.slice(0, 3)).toEqual(["claim", "given back", "claim"]);
});

function newWorker(execute: WorkerOptions["execute"]): PostgresWorker {
  return new PostgresWorker({
    database: fixture.database,
    logger: pino({ level: "silent" }),
    pool: "default",
    leaseMs: 600_000,
    pollMs: POLL_MS,
    concurrency: 50,
    execute,
  });
}

function claimOf(workerId: string, limit: number): ClaimRequest {
  const taken = new Map<string, number>();
  return {
    workerId,
    pool: "default",
    leaseMs: 600_000,
    limit,
    taken,
    suspect: true,
    forGuests: false,
    companiesAfter: null,
  };
}

async function insertTask(database: Database): Promise<string> {
  const [runId = ""] = await insertTasksOf(database, newUuid(), 1);
  return runId;
}

async function insertTasksOf(
  database: Database,
  companyId: string,
  count: number,
): Promise<string[]> {
  const tasks = Array.from({ length: count }, () => ({ runId: newId("run_"), companyId }));
  const lease = { workerId: null, runIds: new Set<string>(), leaseMs: 1, pools: new Map() };
  await database.transaction((transaction) => insertTasks(transaction, tasks, lease));
  return tasks.map(({ runId }) => runId);
}

async function claimOne(database: Database, workerId = "test") {
  await insertTask(database);
  const { tasks } = await claimTasks(database, claimOf(workerId, 1));
  const [task] = tasks;
  if (task === undefined) throw new Error("nothing was claimed");
  return task;
}

function settle(database: Database, lease: { runId: string; fence: number }, forMs: number) {
  return database.transaction((transaction) =>
    settleTasks(transaction, [{ ...lease, next: "park", forMs }], 60_000),
  );
}
